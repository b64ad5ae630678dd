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
import { afterAll, beforeAll } from '@jest/globals';
import { findSwift, startSwift, swiftKeys } from '@quittance/engines/swift';
import { onServer } from '@quittance/testkit/databases';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { patient } from '@quittance/testkit/patience';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { commandSuite, quittanceIn, startCommand } from './quittance-in.ts';

const REGION = 'eu-central-1';
export const BUCKET = 'backups';
/** Parts of this size go into the store. */
export const PART_BYTES = 16 * 1_024 * 1_024;

/** OpenStack Swift with an empty bucket, and what is in it, seen by another client than the command's. */
async function storeOf(program: string, folder: string) {
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
    /** How many parts of an unfinished upload below the path have arrived. */
    parts: async (path: string) => {
      const upload = (await uploads()).find(({ Key = '' }) => Key.startsWith(`${path}/`));
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

type TestStore = Awaited<ReturnType<typeof storeOf>>;

/** How the command is told of a store. */
export const settingsOf = (endpoint: string) => ({
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: swiftKeys.owner.accessKeyId,
  AWS_SECRET_ACCESS_KEY: swiftKeys.owner.secretAccessKey,
});

/** A key pair of age, the private one in a file. */
async function ageKeys(folder: string) {
  const identity = await generateIdentity();
  const file = join(folder, 'key.txt');
  writeFileSync(file, `${identity}\n`);
  return { file, recipient: await identityToRecipient(identity) };
}

/**
 * For one suite: a database with an account, OpenStack Swift as a store, and the command that knows both. Swift checks signatures, regions,
 * clocks and the condition that a name is free as S3 does. It is not Amazon's: nothing here has policies, versions or locks.
 */
export async function storeSuite() {
  const program = await findSwift().catch((error: Error) => error);
  if (program instanceof Error) return { missing: program.message };
  const { folder, env, quittance } = await commandSuite();
  const made: TestDatabase[] = [];
  let started: { store: TestStore; key: Awaited<ReturnType<typeof ageKeys>> } | undefined;
  beforeAll(async () => {
    started = { store: await storeOf(program, folder), key: await ageKeys(folder) };
    await quittance(['account', 'create', 'My shop']);
  }, patient(60_000));
  afterAll(async () => {
    await Promise.all(made.map((one) => one.drop()));
    await started?.store.stop();
  });
  const ready = () => {
    if (started === undefined) throw new Error('the store has not started');
    return started;
  };
  const withStore = (others: Record<string, string>) => ({ ...env(), ...ready().store.settings, ...others });
  const orderTo = (place: string) => [
    'backup',
    '--to',
    place,
    '--recipient',
    ready().key.recipient,
    '--json',
  ];
  return {
    store: () => ready().store,
    adminUrl: env().DATABASE_URL_ADMIN,
    run: (args: readonly string[], others: Record<string, string> = {}) => quittance(args, withStore(others)),
    backUp: (place: string, others: Record<string, string> = {}) =>
      quittance(orderTo(place), withStore(others)),
    /** One that can be acted upon while it runs. */
    startBackup: (place: string, others: Record<string, string>, stopping?: AbortSignal) =>
      startCommand(folder, withStore(others), orderTo(place), stopping),
    /** A database that only the migrations have seen, and a restore into it. */
    emptyDatabase: async () => {
      const database = await testDatabase();
      made.push(database);
      const restore = (from: string, others: Record<string, string> = {}) =>
        quittanceIn(folder, withStore({ DATABASE_URL_ADMIN: database.adminUrl, ...others }), [
          ...['restore', from, '--identity', ready().key.file],
        ]);
      return { url: database.adminUrl, restore };
    },
  };
}

/** Rows that no compression makes as small as one part. */
export const fillWithNoise = (adminUrl: string) =>
  onServer(
    adminUrl,
    `insert into gateway.dead_letters (event_id, kind, envelope, failure)
     select 'event-' || row, 'noise', '{}', string_agg(encode(uuid_send(gen_random_uuid()), 'base64'), '')
     from generate_series(1, 25) row, generate_series(1, 44000) group by row`,
  );
