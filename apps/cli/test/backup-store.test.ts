import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { findSwift, swiftKeys } from '@quittance/engines/swift';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { onServer } from '@quittance/testkit/databases';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { startFaultProxy } from '@quittance/testkit/fault-proxy';
import { notTried } from '@quittance/testkit/not-tried';
import { openStore } from '../src/backup/store.ts';
import { uploadBackup } from '../src/backup/upload-backup.ts';
import { commandSuite, quittanceIn, startCommand } from './quittance-in.ts';
import {
  ageKeys,
  BUCKET,
  fillWithNoise,
  PART_BYTES,
  settingsOf,
  storeOf,
  type TestStore,
} from './stored-backups.ts';
import { contents } from './table-contents.ts';

/**
 * `quittance backup --to s3://…` and `quittance restore s3://…`, with OpenStack Swift as the store. It checks signatures, regions, clocks and
 * the condition that a name is free as S3 does. It is not Amazon's: nothing here has policies, versions or locks.
 */
const { folder, env, quittance } = await commandSuite();
const { DATABASE_URL_ADMIN: adminUrl } = env();
const HOUR_MS = 3_600_000;
const SLOW_MS = 500;
/** The command tries again for some seconds before it gives a store up. */
const LONG_MS = 60_000;
const NAME = /^quittance-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.age$/;

const found = await findSwift().catch((error: Error) => error);
const opened: Db[] = [];
const made: TestDatabase[] = [];
let store: TestStore;
let key: Awaited<ReturnType<typeof ageKeys>>;

/** The command with the settings of the store, or with some others. */
const withStore = (args: readonly string[], others: Record<string, string> = {}) =>
  quittance(args, { ...env(), ...store.settings, ...others });
const orderTo = (place: string) => ['backup', '--to', place, '--recipient', key.recipient, '--json'];
const backUp = (place: string, others?: Record<string, string>) => withStore(orderTo(place), others);

/** A database that only the migrations have seen, and a restore into it. */
async function emptyDatabase() {
  const database = await testDatabase();
  made.push(database);
  const url = database.adminUrl;
  const db = openDb({ url, schema: 'public', pool: 1, logger: createLogger('test', 'silent') });
  opened.push(db);
  const restore = (from: string, others: Record<string, string> = {}) =>
    quittanceIn(folder, { ...store.settings, DATABASE_URL_ADMIN: url, ...others }, [
      ...['restore', from, '--identity', key.file],
    ]);
  return { db, restore };
}

async function contentsOf(url: string) {
  const db = openDb({ url, schema: 'public', pool: 1, logger: createLogger('test', 'silent') });
  return await contents(db).finally(() => db.close());
}

/** What a restore adds. */
const ADDED = ['auditor.halts', 'payouts.halted_assets', 'gateway.audit_log'];
const withoutAdded = (all: Record<string, string>) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !ADDED.includes(name)));

/** Before the store, and slow, so that a test can act while an upload is under way. */
async function slowStore() {
  // Of no protocol: it is not to read what goes through.
  const proxy = await startFaultProxy(store.swift.url.replace('http:', 'tcp:'));
  proxy.set({ kind: 'latency', ms: SLOW_MS });
  return { proxy, settings: settingsOf(proxy.url.replace('tcp:', 'http:')) };
}

/** Ends once the first part of an upload is in the store, with more to come. */
const partArrived = () =>
  eventually(async () => {
    expect(await store.parts()).toBeGreaterThan(0);
  });

if (found instanceof Error) notTried('backups go into a store that speaks S3 and come back', found.message);
else {
  beforeAll(async () => {
    [store, key] = await Promise.all([storeOf(found, folder), ageKeys(folder, 'own')]);
    await quittance(['account', 'create', 'My shop']);
  }, LONG_MS);
  afterAll(async () => {
    await Promise.all(opened.map((db) => db.close()));
    await Promise.all(made.map((one) => one.drop()));
    await store.stop();
  });

  test('a backup goes into a store, encrypted, and comes back from there', async () => {
    const { code, err, json } = await backUp(`s3://${BUCKET}/shop/`);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { file, bytes: size } = json();
    const [name = '', ...others] = (await store.names()).map((one) => one.replace('shop/', ''));
    expect({ file, others }).toEqual({ file: `s3://${BUCKET}/shop/${name}`, others: [] });
    expect(name).toMatch(NAME);
    const { bytes } = await store.bytes(`shop/${name}`);
    expect(bytes.subarray(0, 21).toString()).toBe('age-encryption.org/v1');
    expect({ size, isReadable: bytes.includes('My shop') }).toEqual({
      size: bytes.length,
      isReadable: false,
    });
    const { db, restore } = await emptyDatabase();
    expect(await restore(file)).toMatchObject({ code: 0, err: '' });
    expect(withoutAdded(await contents(db))).toEqual(withoutAdded(await contentsOf(adminUrl)));
    expect(await db.one('select name from gateway.accounts')).toEqual({ name: 'My shop' });
  });

  test('the doctor tells the age of the newest backup in a store', async () => {
    const newest = async (place: string, others?: Record<string, string>) => {
      const { findings } = (await withStore(['doctor', '--backups', place, '--json'], others)).json();
      return findings.find(({ check }: { check: string }) => check === 'backup');
    };
    const old = new Date(Date.now() - 48 * HOUR_MS).toISOString().slice(0, 19).replaceAll(':', '-');
    await store.put(`old/quittance-${old}Z.age`, 'old');
    await store.put('old/further/down.age', 'not directly below');
    expect(await newest(`s3://${BUCKET}/old`)).toMatchObject({
      state: 'problem',
      found: expect.stringMatching(/\.age is 48 hours old$/),
    });
    expect(await newest(`s3://${BUCKET}/none`)).toMatchObject({ state: 'problem', found: 'there is none' });
    expect((await backUp(`s3://${BUCKET}/old`)).code).toBe(0);
    expect(await newest(`s3://${BUCKET}/old`)).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/ is 0 hours old$/),
    });
    expect(await newest('s3://nowhere/old')).toMatchObject({
      state: 'problem',
      found: `${store.swift.url} has no bucket nowhere.`,
    });
  });

  describe('what is wrong is told in one line, with nothing in the store', () => {
    let before: string[];
    beforeAll(async () => {
      before = await store.names();
    });
    afterEach(async () => {
      expect({ names: await store.names(), uploads: await store.uploads() }).toEqual({
        names: before,
        uploads: [],
      });
    });
    const refused = async (others: Record<string, string>, place = `s3://${BUCKET}/refused`) => {
      const { code, out, err } = await backUp(place, others);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      for (const { secretAccessKey } of Object.values(swiftKeys)) expect(err).not.toContain(secretAccessKey);
      const { message } = JSON.parse(err);
      expect(message).not.toContain('\n');
      return message;
    };
    const { accessKeyId, secretAccessKey } = swiftKeys.stranger;

    test.each([
      [
        'a wrong secret',
        { AWS_SECRET_ACCESS_KEY: 'wrong' },
        /does not accept the credentials \(SignatureDoesNotMatch\)/,
      ],
      [
        'credentials that may not write',
        { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
        /refuses \(AccessDenied\): these credentials need s3:PutObject in the bucket backups/,
      ],
      ['half of the credentials', { AWS_SECRET_ACCESS_KEY: '' }, /belong together: set both/],
      [
        'another region',
        { AWS_REGION: 'us-east-1' },
        /is of another region than AWS_REGION says: .*eu-central-1/,
      ],
      [
        'an endpoint that is none',
        { AWS_ENDPOINT_URL_S3: 'ftp://store' },
        /AWS_ENDPOINT_URL_S3 is no URL of a store/,
      ],
      [
        'an endpoint where nothing is',
        { AWS_ENDPOINT_URL_S3: 'http://user:of-the-url@127.0.0.1:1' },
        /^http:\/\/127\.0\.0\.1:1 does not answer \(ECONNREFUSED: connect/,
      ],
    ])('%s', async (_, others, message) => {
      expect(await refused(others)).toMatch(message);
    });

    test('a bucket that is missing, and a place that is none', async () => {
      expect(await refused({}, 's3://missing/place')).toBe(`${store.swift.url} has no bucket missing.`);
      const told = await refused({}, `s3://key:${secretAccessKey}@bucket`);
      expect(told).toMatch(/^A place in a store is s3:/);
    });

    test.each([200, 404])('a web server that is no store, and answers %i', async (status) => {
      const page = createServer((_, answer) =>
        answer.writeHead(status).end('<html><body>Hello</body></html>'),
      );
      await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
      const told = await refused({ AWS_ENDPOINT_URL_S3: url }).finally(() => page.close());
      expect(told).toBe(`What answers at ${url} is no store that speaks S3: correct AWS_ENDPOINT_URL_S3.`);
    });

    test('an object that is missing, or no backup', async () => {
      const { restore } = await emptyDatabase();
      const from = (name: string) => `s3://${BUCKET}/${name}`;
      expect((await restore(from('none.age'))).err).toBe(`${store.swift.url} has no ${from('none.age')}.\n`);
      expect((await restore(from('old/further/down.age'))).err).toMatch(/^down\.age is no backup/);
      const wrong = { AWS_SECRET_ACCESS_KEY: 'wrong' };
      expect((await restore(from('none.age'), wrong)).err).toMatch(/does not accept the credentials/);
    });
  });

  test('the clock of the store counts where that of this machine is wrong', async () => {
    const wrong = Date.now() + 2 * HOUR_MS;
    jest.spyOn(Date, 'now').mockReturnValue(wrong);
    const { code } = await backUp(`s3://${BUCKET}/clock`).finally(() => jest.restoreAllMocks());
    expect(code).toBe(0);
  });

  describe('what has the name already stays as it is', () => {
    test('a backup of the same second', async () => {
      const second = (i: number) => new Date(Date.now() + i * 1_000).toISOString().slice(0, 19);
      const names = Array.from(
        { length: 30 },
        (_, i) => `taken/quittance-${second(i).replaceAll(':', '-')}Z.age`,
      );
      await Promise.all(names.map((name) => store.put(name, 'of another')));
      const { code, err } = await backUp(`s3://${BUCKET}/taken`);
      expect({ code, message: JSON.parse(err).message }).toEqual({
        code: 1,
        message: expect.stringMatching(
          /^s3:\/\/backups\/taken\/.* exists already, and was not overwritten\.$/,
        ),
      });
      for (const name of names) expect((await store.bytes(name)).bytes.toString()).toBe('of another');
    });

    test('one that came while the upload was under way', async () => {
      const name = 'raced.age';
      async function* chunks() {
        yield Buffer.from('first');
        await store.put(name, 'of another');
        yield Buffer.from('last');
      }
      const upload = uploadBackup(
        openStore({ env: store.settings }, BUCKET),
        name,
        chunks(),
        new AbortController().signal,
      );
      await expect(upload).rejects.toThrow(`s3://${BUCKET}/${name} exists already, and was not overwritten.`);
      expect((await store.bytes(name)).bytes.toString()).toBe('of another');
      expect(await store.uploads()).toEqual([]);
    });
  });

  describe('a backup of several parts', () => {
    let file: string;
    let large: Buffer;
    beforeAll(async () => {
      await fillWithNoise(adminUrl);
      const done = await backUp(`s3://${BUCKET}/large`);
      file = done.json().file;
      const stored = await store.bytes(file.replace(`s3://${BUCKET}/`, ''));
      large = stored.bytes;
      // Of an upload in two parts.
      expect(stored.etag).toMatch(/-2"$/);
    }, LONG_MS);

    test(
      'comes back, over connections that break off',
      async () => {
        expect(large.length).toBeGreaterThan(PART_BYTES);
        const { proxy, settings } = await slowStore();
        proxy.set({ kind: 'reset', afterBytes: large.length / 3 });
        const { db, restore } = await emptyDatabase();
        expect(await restore(file, settings)).toMatchObject({ code: 0, err: '' });
        expect(proxy.fired()).toBeGreaterThanOrEqual(3);
        await proxy.close();
        expect(withoutAdded(await contents(db))).toEqual(withoutAdded(await contentsOf(adminUrl)));
      },
      LONG_MS,
    );

    test(
      'restores nothing when the store goes away in the middle',
      async () => {
        const { proxy, settings } = await slowStore();
        proxy.set({ kind: 'drip', bytes: 64 * 1_024, everyMs: 10 });
        const { db, restore } = await emptyDatabase();
        const restoring = restore(file, settings);
        await eventually(() => expect(proxy.fired()).toBeGreaterThan(10));
        proxy.set({ kind: 'refuse' });
        const { code, out, err } = await restoring;
        await proxy.close();
        expect({ code, out }).toEqual({ code: 1, out: '' });
        expect(err).toMatch(
          /^http:\/\/127\.0\.0\.1:\d+ does not answer \(.*\)\. .* Nothing was restored\.\n$/,
        );
        expect((await contents(db))['gateway.accounts']).toBe('0 ');
      },
      LONG_MS,
    );

    const underWay = async (place: string, stopping?: AbortSignal) => {
      const { proxy, settings } = await slowStore();
      const args = orderTo(`s3://${BUCKET}/${place}`);
      const { code, said } = startCommand(folder, { ...env(), ...settings }, args, stopping);
      await partArrived();
      const ended = async () => {
        const left = { code: await code, out: said.out };
        await proxy.close();
        const names = (await store.names()).filter((name) => name.startsWith(place));
        expect({ ...left, names }).toEqual({ code: 1, out: '', names: [] });
        return JSON.parse(said.err).message;
      };
      return { proxy, ended };
    };

    test(
      'is not there when the store goes away in the middle, and says what may be left',
      async () => {
        const { proxy, ended } = await underWay('gone');
        proxy.set({ kind: 'refuse' });
        expect(await ended()).toMatch(
          /does not answer .* No backup was made; parts of it may be left in the bucket/,
        );
      },
      LONG_MS,
    );

    test(
      'goes on when the store was away for a moment',
      async () => {
        const { proxy, settings } = await slowStore();
        const { code } = startCommand(folder, { ...env(), ...settings }, orderTo(`s3://${BUCKET}/moment`));
        await eventually(async () => {
          const uploads = (await store.uploads()).map(({ Key }) => Key);
          expect(uploads).toContainEqual(expect.stringMatching(/^moment/));
        });
        expect(proxy.cut()).toBeGreaterThan(0);
        expect(await code).toBe(0);
        await proxy.close();
        const [name = ''] = (await store.names()).filter((one) => one.startsWith('moment'));
        expect((await store.bytes(name)).bytes.length).toBeGreaterThan(PART_BYTES);
      },
      LONG_MS,
    );

    test(
      'leaves nothing in the store when the database ends it, or who has started it',
      async () => {
        const left = async () => (await store.uploads()).filter(({ Key = '' }) => Key.startsWith('ended'));
        const database = await underWay('ended-by-database');
        await onServer(
          adminUrl,
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and query like 'copy %' and pid <> pg_backend_pid()`,
        );
        expect(await database.ended()).toMatch(/terminat/i);
        expect(await left()).toEqual([]);
        const stop = new AbortController();
        const person = await underWay('ended-by-person', stop.signal);
        stop.abort();
        expect(await person.ended()).toBe('It was stopped.');
        expect(await left()).toEqual([]);
      },
      LONG_MS,
    );
  });
}
