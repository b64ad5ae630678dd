import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { type SwiftHandle, startSwift, swiftKeys } from '@quittance/engines/swift';
import { onServer } from '@quittance/testkit/databases';
import { generateIdentity, identityToRecipient } from 'age-encryption';

export const REGION = 'eu-central-1';
export const BUCKET = 'backups';
/** Parts of this size go into the store. */
export const PART_BYTES = 16 * 1_024 * 1_024;

/** OpenStack Swift with an empty bucket, and what is in it, seen by another client than the command's. */
export async function storeOf(program: string, folder: string) {
  const swift = await startSwift({ program, dataDir: join(folder, 'swift'), port: 0, region: REGION });
  const client = new S3Client({
    endpoint: swift.url,
    region: REGION,
    forcePathStyle: true,
    credentials: swiftKeys.owner,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  const inBucket = { Bucket: BUCKET };
  const uploads = async () => (await client.send(new ListMultipartUploadsCommand(inBucket))).Uploads ?? [];
  return {
    swift,
    /** How the command is told of it. */
    settings: settingsOf(swift.url),
    names: async () =>
      ((await client.send(new ListObjectsV2Command(inBucket))).Contents ?? []).map(({ Key = '' }) => Key),
    bytes: async (Key: string) => {
      const { Body, ETag } = await client.send(new GetObjectCommand({ ...inBucket, Key }));
      return { bytes: Buffer.from((await Body?.transformToByteArray()) ?? []), etag: ETag };
    },
    put: async (Key: string, Body: string | Uint8Array) => {
      await client.send(new PutObjectCommand({ ...inBucket, Key, Body }));
    },
    uploads,
    /** How many parts of the first unfinished upload have arrived. */
    parts: async () => {
      const [upload] = await uploads();
      if (upload === undefined) return 0;
      const { Key, UploadId } = upload;
      return (await client.send(new ListPartsCommand({ ...inBucket, Key, UploadId }))).Parts?.length ?? 0;
    },
    stop: async () => {
      client.destroy();
      await swift.stop();
    },
  };
}

export type TestStore = Awaited<ReturnType<typeof storeOf>>;

export const settingsOf = (endpoint: SwiftHandle['url']) => ({
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: swiftKeys.owner.accessKeyId,
  AWS_SECRET_ACCESS_KEY: swiftKeys.owner.secretAccessKey,
});

/** A key pair of age, the private one in a file. */
export async function ageKeys(folder: string, name: string) {
  const identity = await generateIdentity();
  const file = join(folder, `${name}.txt`);
  writeFileSync(file, `${identity}\n`);
  return { file, recipient: await identityToRecipient(identity) };
}

/** Rows that no compression makes as small as one part. */
export const fillWithNoise = (adminUrl: string) =>
  onServer(
    adminUrl,
    `insert into gateway.dead_letters (event_id, kind, envelope, failure)
     select 'event-' || row, 'noise', '{}', string_agg(encode(uuid_send(gen_random_uuid()), 'base64'), '')
     from generate_series(1, 25) row, generate_series(1, 44000) group by row`,
  );
