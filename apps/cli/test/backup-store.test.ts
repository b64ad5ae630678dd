import { createServer, request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { swiftKeys } from '@quittance/engines/swift';
import { localPort } from '@quittance/testkit/local-port';
import { notTried } from '@quittance/testkit/not-tried';
import { openStore } from '../src/backup/store.ts';
import { uploadBackup } from '../src/backup/upload-backup.ts';
import { BUCKET, settingsOf, storeSuite } from './stored-backups.ts';
import { recordsOf } from './table-contents.ts';

/** `quittance backup --to s3://…` and `quittance restore s3://…`: what is told, and what stays as it is. */
const suite = await storeSuite();
const HOUR_MS = 3_600_000;
const NAME = /^quittance-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.age$/;

if ('missing' in suite) notTried('backups go into a store that speaks S3 and come back', suite.missing);
else {
  const { adminUrl, backUp, emptyDatabase, run, store } = suite;

  test('a backup goes into a store, encrypted, and comes back from there', async () => {
    const { code, err, json } = await backUp(`s3://${BUCKET}/shop/`);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { file, bytes: size } = json();
    const [name = '', ...others] = (await store().names()).map((one) => one.replace('shop/', ''));
    expect({ file, others }).toEqual({ file: `s3://${BUCKET}/shop/${name}`, others: [] });
    expect(name).toMatch(NAME);
    const { bytes } = await store().bytes(`shop/${name}`);
    expect(bytes.subarray(0, 21).toString()).toBe('age-encryption.org/v1');
    expect({ size, isReadable: bytes.includes('My shop') }).toEqual({
      size: bytes.length,
      isReadable: false,
    });
    const { url, restore } = await emptyDatabase();
    expect(await restore(file)).toMatchObject({ code: 0, err: '' });
    const restored = await recordsOf(url);
    expect(restored).toEqual(await recordsOf(adminUrl));
    expect(restored['gateway.accounts']).toMatch(/^1 /);
  });

  test('the doctor tells the age of the newest backup in a store', async () => {
    const newest = async (place: string, others?: Record<string, string>) => {
      const { findings } = (await run(['doctor', '--backups', place, '--json'], others)).json();
      return findings.find(({ check }: { check: string }) => check === 'backup');
    };
    const old = new Date(Date.now() - 48 * HOUR_MS).toISOString().slice(0, 19).replaceAll(':', '-');
    await store().put(`old/quittance-${old}Z.age`, 'old');
    await store().put('old/further/down.age', 'not directly below');
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
      found: `${store().swift.url} has no bucket nowhere.`,
    });
  });

  describe('what is wrong is told in one line, with nothing in the store', () => {
    let before: string[];
    // Neither a profile of who runs this nor a machine of Amazon's is asked for what is missing.
    const own = { ...process.env };
    beforeAll(async () => {
      for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) process.env[name] = '/nowhere';
      process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
      before = await store().names();
    });
    afterAll(() => {
      process.env = own;
    });
    afterEach(async () => {
      expect({ names: await store().names(), uploads: await store().uploads() }).toEqual({
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
      expect(await refused({}, 's3://missing/place')).toBe(`${store().swift.url} has no bucket missing.`);
      const told = await refused({}, `s3://key:${secretAccessKey}@bucket`);
      expect(told).toMatch(/^A place in a store is s3:/);
    });

    test.each([200, 404])('a web server that is no store, and answers %i', async (status) => {
      const page = createServer((_, answer) =>
        answer.writeHead(status).end('<html><body>Hello</body></html>'),
      );
      const url = `http://127.0.0.1:${await localPort(page)}`;
      const told = await refused({ AWS_ENDPOINT_URL_S3: url }).finally(() => page.close());
      expect(told).toBe(`What answers at ${url} is no store that speaks S3: correct AWS_ENDPOINT_URL_S3.`);
    });

    test('an object that is missing, or no backup', async () => {
      const { restore } = await emptyDatabase();
      const from = (name: string) => `s3://${BUCKET}/${name}`;
      expect((await restore(from('none.age'))).err).toBe(
        `${store().swift.url} has no ${from('none.age')}.\n`,
      );
      expect((await restore(`s3://${BUCKET}`)).err).toMatch(/^Name the backup itself/);
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

  test('a store that knows no conditions is asked before whether the name is free', async () => {
    const told: string[] = [];
    const front = createServer((asked, answer) => {
      const { method = '', url = '', headers } = asked;
      told.push(method);
      if (headers['if-none-match'] !== undefined) {
        asked.resume();
        answer.writeHead(501).end('<Error><Code>NotImplemented</Code><Message>No.</Message></Error>');
        return;
      }
      const further = request(store().swift.url + url, { method, headers }, (got) => {
        answer.writeHead(got.statusCode ?? 500, got.headers);
        got.pipe(answer);
      });
      // Swift ends its answer to HEAD as if it had a body, which is seen after the answer.
      further.on('error', () => answer.end());
      asked.pipe(further);
    });
    const settings = settingsOf(`http://127.0.0.1:${await localPort(front)}`);
    const { code, json } = await backUp(`s3://${BUCKET}/plain`, settings).finally(() => front.close());
    expect({ code, told }).toEqual({ code: 0, told: ['HEAD', 'POST', 'PUT', 'POST', 'POST'] });
    const name = json().file.replace(`s3://${BUCKET}/`, '');
    expect((await store().bytes(name)).bytes.length).toBe(json().bytes);
  });

  describe('what has the name already stays as it is', () => {
    test('a backup of the same second', async () => {
      const second = (i: number) => new Date(Date.now() + i * 1_000).toISOString().slice(0, 19);
      const names = Array.from(
        { length: 30 },
        (_, i) => `taken/quittance-${second(i).replaceAll(':', '-')}Z.age`,
      );
      await Promise.all(names.map((name) => store().put(name, 'of another')));
      const { code, err } = await backUp(`s3://${BUCKET}/taken`);
      expect({ code, message: JSON.parse(err).message }).toEqual({
        code: 1,
        message: expect.stringMatching(
          /^s3:\/\/backups\/taken\/.* exists already, and was not overwritten\.$/,
        ),
      });
      for (const name of names) expect((await store().bytes(name)).bytes.toString()).toBe('of another');
    });

    test('one that came while the upload was in flight', async () => {
      const name = 'raced.age';
      async function* chunks() {
        yield Buffer.from('first');
        await store().put(name, 'of another');
        yield Buffer.from('last');
      }
      const upload = uploadBackup(
        openStore({ env: store().settings }, BUCKET),
        name,
        chunks(),
        new AbortController().signal,
      );
      await expect(upload).rejects.toThrow(`s3://${BUCKET}/${name} exists already, and was not overwritten.`);
      expect((await store().bytes(name)).bytes.toString()).toBe('of another');
      expect(await store().uploads()).toEqual([]);
    });
  });
}
