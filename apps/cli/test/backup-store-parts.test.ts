import { createServer, request } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { onServer } from '@quittance/testkit/databases';
import { eventually } from '@quittance/testkit/eventually';
import { startFaultProxy } from '@quittance/testkit/fault-proxy';
import { localPort } from '@quittance/testkit/local-port';
import { notTried } from '@quittance/testkit/not-tried';
import { patient } from '@quittance/testkit/patience';
import { BUCKET, fillWithNoise, PART_BYTES, settingsOf, storeSuite } from './stored-backups.ts';
import { isBeingFilled, recordsOf } from './table-contents.ts';

/** A backup that is larger than one part, and what is in the store and in the database when one of them goes away in the middle. */
const suite = await storeSuite();
const SLOW_MS = 500;
/** The command tries again for some seconds before it gives a store up. */
const LONG_MS = patient(60_000);

/** Stands before the store, and gives no answer to the completion of an upload. */
async function answersOfCompletionLost(url: string) {
  let lost = 0;
  const server = createServer((asked, answered) => {
    const isCompletion = asked.method === 'POST' && asked.url?.includes('uploadId=') === true;
    const { method, headers } = asked;
    const onward = request(new URL(asked.url ?? '', url), { method, headers }, (answer) => {
      if (!isCompletion) {
        answered.writeHead(answer.statusCode ?? 0, answer.headers);
        return answer.pipe(answered);
      }
      lost += 1;
      return answer.resume().on('end', () => answered.destroy());
    });
    // Swift answers a HEAD with a text as well, which is an error after the answer.
    onward.on('error', () => answered.headersSent || answered.destroy());
    // Without a body, not even an empty one.
    if (headers['content-length'] === undefined) onward.end();
    else asked.pipe(onward);
  });
  const port = await localPort(server);
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, lost: () => lost, close };
}

if ('missing' in suite) notTried('a backup of several parts goes into a store and comes back', suite.missing);
else {
  const { adminUrl, backUp, emptyDatabase, startBackup, store } = suite;

  /** Before the store, and slow, so that a test can act while an upload is in flight. */
  const slowStore = async () => {
    // Of no protocol: it is not to read what goes through.
    const proxy = await startFaultProxy(store().swift.url.replace('http:', 'tcp:'));
    proxy.set({ kind: 'latency', ms: SLOW_MS });
    return { proxy, settings: settingsOf(proxy.url.replace('tcp:', 'http:')) };
  };

  describe('a backup of several parts', () => {
    let file: string;
    let large: Buffer;
    beforeAll(async () => {
      await fillWithNoise(adminUrl);
      const done = await backUp(`s3://${BUCKET}/large`);
      file = done.json().file;
      const stored = await store().bytes(file.replace(`s3://${BUCKET}/`, ''));
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
        const { url, restore } = await emptyDatabase();
        expect(await restore(file, settings)).toMatchObject({ code: 0, err: '' });
        expect(proxy.fired()).toBeGreaterThanOrEqual(3);
        await proxy.close();
        expect(await recordsOf(url)).toEqual(await recordsOf(adminUrl));
      },
      LONG_MS,
    );

    test(
      'restores nothing when the store goes away in the middle',
      async () => {
        const { proxy, settings } = await slowStore();
        proxy.set({ kind: 'drip', bytes: 64 * 1_024, everyMs: 10 });
        const { url, restore } = await emptyDatabase();
        const restoring = restore(file, settings);
        await eventually(async () => expect(await isBeingFilled(url)).toBe(true));
        proxy.set({ kind: 'refuse' });
        const { code, out, err } = await restoring;
        await proxy.close();
        expect({ code, out }).toEqual({ code: 1, out: '' });
        expect(err).toMatch(
          /^http:\/\/127\.0\.0\.1:\d+ does not answer \(.*\): .* Nothing was restored\.\n$/,
        );
        expect((await recordsOf(url))['gateway.accounts']).toBe('0 ');
      },
      LONG_MS,
    );

    const inFlight = async (place: string, stopping?: AbortSignal) => {
      const { proxy, settings } = await slowStore();
      const { code, said } = startBackup(`s3://${BUCKET}/${place}`, settings, stopping);
      // With more to come.
      await eventually(async () => {
        expect(await store().parts(place)).toBeGreaterThan(0);
      });
      const ended = async () => {
        const left = { code: await code, out: said.out };
        await proxy.close();
        const names = (await store().names()).filter((name) => name.startsWith(`${place}/`));
        expect({ ...left, names }).toEqual({ code: 1, out: '', names: [] });
        return JSON.parse(said.err).message;
      };
      return { proxy, ended };
    };

    test(
      'is not there when the store goes away in the middle, and says what may be left',
      async () => {
        const { proxy, ended } = await inFlight('gone');
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
        const { code } = startBackup(`s3://${BUCKET}/moment`, settings);
        await eventually(async () => {
          const uploads = (await store().uploads()).map(({ Key }) => Key);
          expect(uploads).toContainEqual(expect.stringMatching(/^moment/));
        });
        expect(proxy.cut()).toBeGreaterThan(0);
        expect(await code).toBe(0);
        await proxy.close();
        const [name = ''] = (await store().names()).filter((one) => one.startsWith('moment'));
        expect((await store().bytes(name)).bytes.length).toBeGreaterThan(PART_BYTES);
      },
      LONG_MS,
    );

    test(
      'is there when it was stored and no answer says so',
      async () => {
        const { url, lost, close } = await answersOfCompletionLost(store().swift.url);
        const done = await backUp(`s3://${BUCKET}/unanswered`, settingsOf(url));
        close();
        expect(lost()).toBeGreaterThan(1);
        expect(done.code).toBe(0);
        const [name = ''] = (await store().names()).filter((one) => one.startsWith('unanswered/'));
        expect((await store().bytes(name)).bytes.length).toBe(done.json().bytes);
      },
      LONG_MS,
    );

    test(
      'leaves nothing in the store when the database ends it, or who has started it',
      async () => {
        const left = async () => (await store().uploads()).filter(({ Key = '' }) => Key.startsWith('ended'));
        const database = await inFlight('ended-by-database');
        await onServer(
          adminUrl,
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and query like 'copy %' and pid <> pg_backend_pid()`,
        );
        expect(await database.ended()).toMatch(/terminat|^The database does not answer/);
        expect(await left()).toEqual([]);
        const stop = new AbortController();
        const person = await inFlight('ended-by-person', stop.signal);
        stop.abort();
        expect(await person.ended()).toBe('It was stopped.');
        expect(await left()).toEqual([]);
      },
      LONG_MS,
    );
  });
}
