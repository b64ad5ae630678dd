import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { assetSymbols } from '@quittance/shared/assets';
import { type Db, openDb } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { databaseUrl, onServer } from '@quittance/testkit/databases';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { refusal } from '@quittance/testkit/refusal';
import { Decrypter, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { backUp } from '../src/backup/backup-command.ts';
import { commandSuite, quittanceIn } from './quittance-in.ts';
import { recordsOf } from './table-contents.ts';

/** `quittance backup` and `quittance restore`: what comes back, and what is refused with nothing changed. */
const { folder, env, quittance } = await commandSuite();
const { DATABASE_URL_ADMIN: adminUrl } = env();

const HOUR_MS = 3_600_000;
const keys: { file: string; recipient: string; identity: string }[] = [];
const backups = join(folder, 'saved');
let saved = '';
const opened: Db[] = [];
const made: TestDatabase[] = [];

const connected = (url: string, schema = 'public'): Db => {
  const db = openDb({ url, schema, pool: 1, logger: createLogger('test', 'silent') });
  opened.push(db);
  return db;
};

/** Text that a format of rows and lines could mistake for its own. */
const ODD = 'tab\tline\nend \\. \\N \\\\ "quotes" \u{1f600} é';

beforeAll(async () => {
  for (const name of ['own', 'other']) {
    const identity = await generateIdentity();
    const file = join(folder, `${name}.txt`);
    writeFileSync(file, `# made by age-keygen\n${identity}\n`);
    keys.push({ file, identity, recipient: await identityToRecipient(identity) });
  }
  mkdirSync(backups);
  await quittance(['account', 'create', 'My shop']);
  await quittance(['token', 'create', 'My shop', '--name', 'till']);
  await onServer(
    adminUrl,
    `update gateway.accounts set name = E'${ODD.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}'`,
  );
  const done = await quittance(['backup', '--to', backups, '--recipient', key(0).recipient, '--json']);
  expect(done).toMatchObject({ code: 0, err: '' });
  saved = done.json().file;
}, 60_000);
afterAll(async () => {
  await Promise.all(opened.map((db) => db.close()));
  await Promise.all(made.map((one) => one.drop()));
});

function key(at: number) {
  const found = keys[at];
  if (found === undefined) throw new Error('no such key');
  return found;
}

/** A database that only the migrations have seen, and the command on it. */
async function emptyDatabase() {
  const database = await testDatabase();
  made.push(database);
  const settings = { DATABASE_URL_ADMIN: database.adminUrl };
  return {
    db: connected(database.adminUrl),
    url: database.adminUrl,
    run: (...args: string[]) => quittanceIn(folder, settings, args),
  };
}

describe('a backup that is restored', () => {
  test('has every row as it was, pauses the payouts of all assets, and is noted in the audit log', async () => {
    const { db, url, run } = await emptyDatabase();
    const before = await recordsOf(adminUrl);
    expect(before['gateway.accounts']).toMatch(/^1 /);
    const { code, out, err } = await run('restore', saved, '--identity', key(0).file);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('Payouts of all assets are PAUSED');
    expect(await recordsOf(url)).toEqual(before);
    expect(await db.one('select name from gateway.accounts')).toEqual({ name: ODD });
    const paused = await db.rows<{ asset: string }>(
      `select asset from payouts.halted_assets p join auditor.halts h using (asset)
       where p.halt = h.seq and p.resumed_at is null and h.resumed_at is null`,
    );
    expect(paused.map(({ asset }) => asset).toSorted()).toEqual([...assetSymbols].toSorted());
    const noted = `select actor from gateway.audit_log where action = 'restore'`;
    expect(await db.rows(noted)).toEqual([{ actor: expect.stringMatching(/^cli:/) }]);
    // Sequences go on: the next line of the audit log has a number of its own.
    expect((await run('account', 'create', 'Another')).code).toBe(0);
  });

  test('is readable by its owner alone, and only with the key', async () => {
    expect(statSync(saved).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(saved);
    expect(bytes.subarray(0, 21).toString()).toBe('age-encryption.org/v1');
    expect(bytes.includes('My shop')).toBe(false);
    expect(readdirSync(backups)).toHaveLength(1);
  });

  test('goes to standard output as well, for a store of any kind', async () => {
    const pipe = new PassThrough();
    const around = { env: env(), cwd: folder, out: () => undefined, err: () => undefined };
    const [bytes] = await Promise.all([
      buffer(pipe),
      backUp(around, { to: '-', recipient: [key(1).recipient] }, pipe),
    ]);
    const decrypter = new Decrypter();
    decrypter.addIdentity(key(1).identity);
    expect((await decrypter.decrypt(bytes)).length).toBeGreaterThan(1_000);
  });

  test('leaves out the addresses that customers may have got since', async () => {
    const { db, run } = await emptyDatabase();
    await onServer(adminUrl, `select setval('invoices.ethereum_address_blocks', 7, true)`);
    const { file } = (
      await quittance(['backup', '--to', backups, '--recipient', key(0).recipient, '--json'])
    ).json();
    expect((await run('restore', file, '--identity', key(0).file)).code).toBe(0);
    expect(await db.one(`select nextval('invoices.ethereum_address_blocks')::int as next`)).toEqual({
      next: 10_008,
    });
  });
});

test('records that Postgres itself has restored are paused too, before a service starts', async () => {
  const { db, run } = await emptyDatabase();
  await db.rows(`insert into payouts.halted_assets (asset, halt, resumed_at) values ('ETH', 7, now())`);
  expect(await run('restore', '--pause')).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringContaining('PAUSED'),
  });
  const paused = 'select asset, halt from payouts.halted_assets where resumed_at is null and halt > 7';
  expect(await db.rows(paused)).toHaveLength(assetSymbols.length);
  expect((await run('restore')).err).toMatch(/^Either the file of a backup, or --check/);
});

describe('what is refused in one line, with nothing restored', () => {
  const refused = async (file: string, identity = key(0).file) => {
    const { url, run } = await emptyDatabase();
    const { code, out, err } = await run('restore', file, '--identity', identity);
    expect({ code, out, lines: err.split('\n').length }).toEqual({ code: 1, out: '', lines: 2 });
    expect((await recordsOf(url))['gateway.accounts']).toBe('0 ');
    return err;
  };
  const altered = (name: string, bytes: Uint8Array) => {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    return file;
  };
  const packed = async (name: string, text: string) => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(key(0).recipient);
    return altered(name, await encrypter.encrypt(gzipSync(text)));
  };

  test('another key', async () => {
    expect(await refused(saved, key(1).file)).toMatch(
      /is encrypted for another key than the one of --identity/,
    );
  });

  test('a file that was cut, wherever, or changed', async () => {
    const bytes = readFileSync(saved);
    for (const length of [bytes.length - 1, bytes.length - 20, Math.floor(bytes.length / 2)])
      expect(await refused(altered('cut.age', bytes.subarray(0, length)))).toMatch(/cut off or damaged/);
    const changed = Buffer.from(bytes);
    changed[bytes.length - 40] = (changed[bytes.length - 40] ?? 0) ^ 1;
    expect(await refused(altered('changed.age', changed))).toMatch(/cut off or damaged/);
    expect(await refused(altered('text.age', Buffer.from('hello\n')))).toMatch(/is no backup/);
  }, 60_000);

  test('a backup of another format, of another release, without its end or with another row', async () => {
    const head = (format: number, migrations: object) =>
      `-- quittance backup ${JSON.stringify({ format, at: '2026-11-27T03:00:00.000Z', migrations })}\n`;
    expect(await refused(await packed('format.age', head(2, {})))).toMatch(/has format 2/);
    const newer = Object.fromEntries(services.map((service) => [service, ['9999_of_tomorrow']]));
    expect(await refused(await packed('newer.age', head(1, newer)))).toMatch(
      /of another release.*9999_of_tomorrow/,
    );
    const older = Object.fromEntries(services.map((service) => [service, []]));
    expect(await refused(await packed('older.age', head(1, older)))).toMatch(/of an older release/);
    expect(await refused(await packed('other.age', 'hello\n'))).toMatch(/another program/);
    const decrypter = new Decrypter();
    decrypter.addIdentity(key(0).identity);
    const text = gunzipSync(await decrypter.decrypt(readFileSync(saved))).toString();
    const endless = text.slice(0, text.lastIndexOf('-- end of backup'));
    expect(await refused(await packed('endless.age', endless))).toMatch(/its end is missing/);
    const program = text.replace(/^(copy gateway.accounts) \(.*\)/m, "$1 (id) from program 'date' --)");
    expect(await refused(await packed('run.age', program))).toMatch(/columns of gateway.accounts are not/);
    const other = text.replace('\ttill\t', '\ttilt\t');
    expect(await refused(await packed('other.age', other))).toMatch(/rows of gateway.tokens are not those/);
  }, 60_000);

  test('a database with records', async () => {
    const refused = await quittance(['restore', saved, '--identity', key(0).file]);
    expect(refused).toMatchObject(refusal(/^The database is not empty: \w+\.\w+ has rows\./));
  });

  test('a database that a service is connected to', async () => {
    const { run } = await emptyDatabase();
    const [database] = made.slice(-1);
    await connected(database?.urlOf('ledger') ?? '', 'ledger').rows('select 1');
    const refused = await run('restore', saved, '--identity', key(0).file);
    expect(refused).toMatchObject(
      refusal(/^Stop all services first\. Connected to the database: ledger\.\n$/),
    );
  });

  test('a folder that cannot be written, a key that is none, the private key in place of the public one', async () => {
    const backup = (to: string, recipient: string, ...more: string[]) =>
      quittance(['backup', '--to', to, '--recipient', recipient, ...more]);
    const { recipient, identity } = key(0);
    expect((await backup('-', recipient, '--json')).err).toContain('both write to standard output');
    const noTables = { DATABASE_URL_ADMIN: databaseUrl(adminUrl, 'postgres') };
    expect(await quittance(['backup', '--to', backups, '--recipient', recipient], noTables)).toMatchObject(
      refusal('has no tables of Quittance'),
    );
    expect(await backup(join(folder, 'missing'), recipient)).toMatchObject(
      refusal(/^The backup cannot be written to .*missing: ENOENT/),
    );
    expect(await backup(saved, recipient)).toMatchObject(refusal(/ENOTDIR/));
    expect(await backup(backups, 'age1wrong')).toMatchObject(refusal(/no public key of age/));
    const leaked = await backup(backups, identity);
    expect(leaked).toMatchObject(refusal(/and not the private one/));
    expect(leaked.err).not.toContain(identity);
    expect(readdirSync(backups).every((name) => name.endsWith('.age'))).toBe(true);
  });
});

describe('the doctor', () => {
  test('takes the age of a backup from its name, and none for a backup that is not finished', async () => {
    const looked = join(folder, 'looked');
    mkdirSync(looked);
    const found = async () => {
      const { findings } = (await quittance(['doctor', '--backups', looked, '--json'])).json();
      return findings.find(
        ({ check, subject }: { check: string; subject: string }) =>
          check === 'backup' && subject.includes(looked),
      );
    };
    writeFileSync(join(looked, 'quittance-1.unfinished'), '');
    expect(await found()).toMatchObject({ state: 'problem', found: 'the folder is empty' });
    const done = await quittance(['backup', '--to', looked, '--recipient', key(0).recipient, '--json']);
    const file: string = done.json().file;
    expect(await found()).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/\.age is 0 hours old$/),
    });
    // Copied today, made two days ago.
    const old = new Date(Date.now() - 48 * HOUR_MS).toISOString().slice(0, 19).replaceAll(':', '-');
    renameSync(file, join(looked, `quittance-${old}Z.age`));
    utimesSync(join(looked, `quittance-${old}Z.age`), new Date(), new Date());
    expect(await found()).toMatchObject({
      state: 'problem',
      found: expect.stringMatching(/ is 48 hours old$/),
    });
  });
});
