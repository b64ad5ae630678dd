import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services } from '@quittance/shared/events';
import { databaseUrl, onServer, TEST_CONNECTIONS_MAX, TEST_PASSWORD } from '@quittance/testkit/databases';
import { testDatabase } from '@quittance/testkit/engines';
import { refusal } from '@quittance/testkit/refusal';
import { commandSuite } from './quittance-in.ts';

/** Which database a command uses, and how one is migrated. */
const { folder: home, env, quittance } = await commandSuite();

describe('which database', () => {
  // house-rules-disable beside -- every folder that it is joined to is one of the test's own
  const SANDBOX = '.sandbox';
  const { GATEWAY_DATABASE_URL: gatewayDatabaseUrl, DATABASE_URL_ADMIN: adminDatabaseUrl } = env();
  const urls = { gatewayDatabaseUrl, adminDatabaseUrl };
  const operatorFile = (folder: string, content: unknown) => {
    mkdirSync(join(folder, SANDBOX), { recursive: true });
    writeFileSync(join(folder, SANDBOX, 'operator.json'), JSON.stringify(content));
  };

  test('is the sandbox’s, found from a folder further in, when nothing is set', async () => {
    const folder = mkdtempSync(join(home, 'sandbox-'));
    operatorFile(folder, urls);
    const inside = join(folder, 'a', 'b');
    mkdirSync(inside, { recursive: true });
    expect((await quittance(['account', 'list', '--json'], {}, inside)).code).toBe(0);
    expect((await quittance(['verify-books'], {}, inside)).out).toContain('The books are right');
  });

  test('is that of the sandbox in SANDBOX_DIR, and of no other', async () => {
    const folder = mkdtempSync(join(home, 'sandbox-'));
    operatorFile(folder, urls);
    writeFileSync(join(folder, 'operator.json'), JSON.stringify(urls));
    for (const dir of [folder, '.']) {
      expect((await quittance(['account', 'list'], { SANDBOX_DIR: dir }, folder)).code).toBe(0);
    }
    const elsewhere = await quittance(['account', 'list'], { SANDBOX_DIR: '/nowhere' }, folder);
    expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('/nowhere (SANDBOX_DIR)') });
  });

  test('is what is set, whatever the sandbox says', async () => {
    const folder = mkdtempSync(join(home, 'sandbox-'));
    const nowhere = 'postgres://127.0.0.1:1/x';
    operatorFile(folder, { gatewayDatabaseUrl: nowhere, adminDatabaseUrl: nowhere });
    expect((await quittance(['account', 'list'], env(), folder)).code).toBe(0);
    const { DATABASE_URL_ADMIN } = env();
    expect((await quittance(['account', 'list'], { DATABASE_URL_ADMIN }, folder)).code).toBe(0);
    const away = await quittance(['account', 'list'], {}, folder);
    expect(away).toMatchObject(refusal(/database does not answer \(ECONNREFUSED/));
  });

  test('is told apart from no URL at all, whose password is not repeated', async () => {
    const wrong = await quittance(['account', 'list'], { GATEWAY_DATABASE_URL: 'mysql://u:geheim@x/y' });
    expect(wrong).toMatchObject({ code: 1, err: 'GATEWAY_DATABASE_URL is not a postgres:// URL.\n' });
  });

  test('that lets nobody in, or was never migrated, is said so', async () => {
    const url = new URL(env().GATEWAY_DATABASE_URL);
    url.password = 'wrong';
    const locked = await quittance(['account', 'list'], { GATEWAY_DATABASE_URL: url.href });
    expect(locked.err).toMatch(/lets nobody in with this URL/);
    expect(locked.err).not.toContain('wrong');
    const bare = databaseUrl(env().DATABASE_URL_ADMIN, 'postgres');
    expect((await quittance(['account', 'list'], { DATABASE_URL_ADMIN: bare })).err).toMatch(
      /Run `quittance migrate` first/,
    );
  });

  test('a settings file that was cut off is named', async () => {
    const folder = mkdtempSync(join(home, 'sandbox-'));
    operatorFile(folder, { gatewayDatabaseUrl: 1 });
    expect((await quittance(['account', 'list'], {}, folder)).err).toContain(
      join(folder, SANDBOX, 'operator.json'),
    );
  });
});

describe('migrate', () => {
  // Other suites have the same roles meanwhile: their passwords and limits stay.
  const passwords = {
    DATABASE_CONNECTIONS_MAX: String(TEST_CONNECTIONS_MAX),
    ...Object.fromEntries(
      services.map((service) => [`${service.toUpperCase()}_DATABASE_PASSWORD`, TEST_PASSWORD]),
    ),
  };

  test('leaves a database alone that is newer than it knows, or whose disk is full, and says so', async () => {
    const own = await testDatabase();
    const admin = { DATABASE_URL_ADMIN: own.adminUrl, ...passwords };
    try {
      await onServer(
        own.adminUrl,
        `insert into ledger.migrations (name, batch) values ('9001_of_tomorrow', 99)`,
      );
      const newer = await quittance(['migrate'], admin);
      expect(newer).toMatchObject({ code: 1, out: '' });
      expect(newer.err).toBe(
        'It was not begun: the database was migrated by a newer release (9001_of_tomorrow not known here): run that release, or a newer one.\n',
      );
      await onServer(
        own.adminUrl,
        `delete from ledger.migrations where batch = 99 or name like '%least_privilege';
         create function public.no_room() returns event_trigger language plpgsql as $$ begin
           raise exception 'could not extend file "base/5/1": No space left on device' using errcode = '53100'; end $$;
         create event trigger no_room on ddl_command_start execute function public.no_room()`,
      );
      const full = await quittance(['migrate'], admin);
      expect([full.code, full.err]).toEqual([
        1,
        expect.stringMatching(
          /^The database's disk is full: make room there\. \(.*No space left on device\)\n$/,
        ),
      ]);
    } finally {
      await onServer(own.adminUrl, `drop event trigger if exists no_room`);
      await own.drop();
    }
  });

  test('names every password that is missing', async () => {
    const { LEDGER_DATABASE_PASSWORD: _, ...others } = passwords as Record<string, string>;
    const refused = await quittance(['migrate'], { ...env(), ...others });
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(': LEDGER_DATABASE_PASSWORD.');
    expect((await quittance(['migrate'], env())).err).toMatch(
      /GATEWAY_DATABASE_PASSWORD, .*WEBHOOKS_DATABASE_PASSWORD/,
    );
  });
});
