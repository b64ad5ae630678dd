import { reason } from '@quittance/shared/logger';
import { inLine } from '../output.ts';
import { CommandError } from '../surroundings.ts';
import type { Store } from './store.ts';

/** What a command wants of a bucket, and the permission that it needs for it. */
const permissions = { write: 's3:PutObject', read: 's3:GetObject', list: 's3:ListBucket' } as const;
type Wish = keyof typeof permissions;

const NOT_ACCEPTED =
  /^(?:InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken|TokenRefreshRequired|InvalidClientTokenId)$/;
const OTHER_REGION =
  /^(?:AuthorizationHeaderMalformed|PermanentRedirect|TemporaryRedirect|IllegalLocationConstraintException)$/;

/** The status of an answer; undefined when there was none. */
export const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;

/** For `catch`: says in a line what is wrong, and what to correct. `subject` is the object that was asked for, or the bucket. */
export const refused =
  (store: Store, wish: Wish, subject: string) =>
  (error: unknown): never => {
    throw new CommandError(explained(error, store, wish, subject));
  };

function explained(error: unknown, { at, bucket }: Store, wish: Wish, subject: string): string {
  const name = Error.isError(error) ? error.name : '';
  const said = inLine(Error.isError(error) ? error.message : String(error)).replace(/\.$/, '');
  const status = statusOf(error);
  if (NOT_ACCEPTED.test(name))
    return `${at} does not accept the credentials (${name}): correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`;
  if (OTHER_REGION.test(name))
    return `The bucket ${bucket} is of another region than AWS_REGION says: ${said}.`;
  if (status === 403 && name !== 'RequestTimeTooSkewed')
    return `${at} refuses (${name}): these credentials need ${permissions[wish]} in the bucket ${bucket}.`;
  const known = ofName(name, at, bucket, subject);
  if (known !== undefined) return known;
  if (said === 'Region is missing')
    return 'Which region? Set AWS_REGION, and AWS_ENDPOINT_URL_S3 for a store that is not Amazon’s.';
  if (status === 412)
    return wish === 'write' ? `${subject} ${IS_TAKEN}` : `${subject} has changed while it was read.`;
  if (isOfNoStore(error)) return noStore(at);
  return status === undefined
    ? `${at} does not answer (${inLine(reason(error))}): start it, or correct AWS_ENDPOINT_URL_S3.`
    : `${at} refuses (${status} ${name}): ${said}.`;
}

function ofName(name: string, at: string, bucket: string, subject: string): string | undefined {
  switch (name) {
    case 'NoSuchBucket':
      return `${at} has no bucket ${bucket}.`;
    case 'NoSuchKey':
      return `${at} has no ${subject}.`;
    // Where the store tells its own time, the client has gone by that.
    case 'RequestTimeTooSkewed':
      return `The clock of this machine and that of ${at} are too far apart. Here it is ${new Date().toISOString()}.`;
    case 'CredentialsProviderError':
      return 'Which credentials? Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.';
    case 'AbortError':
      return 'It was stopped.';
    default:
      return undefined;
  }
}

/** Goes on after the name. */
export const IS_TAKEN = 'exists already, and was not overwritten.';

/** Something else answers there, such as a web server. */
export const noStore = (at: string): string =>
  `What answers at ${at} is no store that speaks S3: correct AWS_ENDPOINT_URL_S3.`;

/** An answer in which the client found neither what it asked for nor an error of S3. */
const isOfNoStore = (error: unknown): boolean =>
  error instanceof SyntaxError || (Error.isError(error) && error.message === 'UnknownError');
