import { S3Client } from '@aws-sdk/client-s3';
import { CommandError, type Surroundings } from '../surroundings.ts';

/** A bucket of a store that speaks S3. */
export type Store = {
  client: S3Client;
  bucket: string;
  /** What errors call the store: its endpoint, without what may be secret in a URL. */
  at: string;
};

const CONNECT_WITHIN_MS = 10_000;
/** A connection on which nothing moves for so long is given up. */
const SILENT_FOR_MS = 60_000;
/** Its own pauses grow from a tenth of a second to some three seconds in all. */
const ATTEMPTS = 6;
/** Stores that have no regions take any, and most this one. */
const ANY_REGION = 'us-east-1';

/**
 * Opens a bucket with the settings that all programs for S3 have. What is not set here is found where Amazon's own programs
 * look for it: a profile, the role of the machine or of the pod.
 */
export function openStore({ env }: Pick<Surroundings, 'env'>, bucket: string, attempts = ATTEMPTS): Store {
  const endpoint = endpointOf(env);
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || (endpoint && ANY_REGION);
  const credentials = credentialsOf(env);
  const client = new S3Client({
    ...(endpoint === undefined ? {} : { endpoint: endpoint.href, forcePathStyle: true }),
    ...(region ? { region } : {}),
    ...(credentials === undefined ? {} : { credentials }),
    // Other stores do not know the checksums in headers; the signature is over the digest of what is sent in any case.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: attempts,
    requestHandler: { connectionTimeout: CONNECT_WITHIN_MS, socketTimeout: SILENT_FOR_MS },
  });
  return { client, bucket, at: endpoint?.origin ?? `S3 in ${region || 'the region of the profile'}` };
}

type Env = Surroundings['env'];

function endpointOf(env: Env): URL | undefined {
  const name = env['AWS_ENDPOINT_URL_S3'] ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL';
  const given = env[name];
  if (!given) return undefined;
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return new URL(given);
  throw new CommandError(`${name} is no URL of a store, such as https://s3.example.com.`);
}

function credentialsOf(env: Env) {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env;
  if (!accessKeyId && !secretAccessKey) return undefined;
  if (!accessKeyId || !secretAccessKey)
    throw new CommandError('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together: set both.');
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}
