import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifyBooks } from '@quittance/reconciliation/verify-books';
import { type Service, services } from '@quittance/shared/events';
import { knownMigrations } from '@quittance/shared/migrate-all';
import { describeSchema, driftOf, parseSnapshot } from '@quittance/shared/schema-snapshot';
import { onServer } from '@quittance/testkit/databases';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { merchant } from '@quittance/testkit/merchant';
import { startReceiver } from '@quittance/testkit/receiver';
import { Webhook } from 'standardwebhooks';
import { columnsOf, whyFormerCodeFails } from './former-code.ts';
import { type LoadedRelease, loadRelease } from './loaded-release.ts';
import { type Dump, releaseDumps, withoutTimes } from './stored-release.ts';

/*
 * What each release has left is migrated to this one. The services of the newest release may still run then: a migration adds what
 * this release needs, and what it needs no more goes in the release after it.
 */

const dumps = releaseDumps();
const newest = dumps.at(-1) as Dump;
let nats: Awaited<ReturnType<typeof testNats>>;
beforeAll(async () => {
  nats = await testNats();
});
afterAll(() => nats?.stop());

describe.each(dumps)('the database of $name', ({ name, sql, stored }) => {
  let loaded: LoadedRelease;
  beforeAll(async () => {
    loaded = await loadRelease({ name, sql, stored });
  });
  afterAll(() => loaded?.drop());

  test('all migrations that came later are applied to it, and a second time there are none', async () => {
    await loaded.migrate();
    for (const service of services) {
      const rows = await loaded.db.rows<{ name: string }>(`select name from ${service}.migrations`);
      expect(rows.map((row) => `${row.name}.sql`).sort()).toEqual((await knownMigrations(service)).sort());
    }
    expect((await loaded.migrate()).flatMap(({ applied: again }) => again)).toEqual([]);
  });

  test('its schema is that of a new installation', async () => {
    for (const service of services) {
      const snapshot = readFileSync(new URL(`../../services/${service}/schema.sql`, import.meta.url), 'utf8');
      const found = await describeSchema(loaded.db, service);
      expect([service, driftOf(parseSnapshot(snapshot), found)]).toEqual([service, []]);
      expect(found.size).toBeGreaterThan(5);
    }
  });

  test('its books balance but for what was on its way when it was stopped', async () => {
    const { discrepancies, checked } = await verifyBooks({
      databaseUrl: loaded.adminUrl,
      gracePeriodSeconds: 0,
    });
    expect(withoutTimes(discrepancies)).toEqual(stored.onTheWay);
    expect([checked.entries, checked.deposits, checked.payouts]).not.toContain(0);
  });

  test('the services start on it, and a merchant reads what was there and hears what was not delivered', async () => {
    const receiver = await startReceiver();
    try {
      const url = await loaded.start(nats.url, `${receiver.url}/hook`);
      const shop = merchant(url, stored.account.id, stored.account.token);
      const paid = await shop.get(`/api/invoices/${stored.invoices['paid']}`);
      expect([paid.status, paid.body.id, paid.body.status]).toEqual([200, stored.invoices['paid'], 'paid']);
      const mined = await shop.get(`/api/payouts/${stored.payouts['mined']}`);
      expect([mined.status, String(mined.body.id), mined.body.status]).toEqual([
        200,
        stored.payouts['mined'],
        'mined',
      ]);
      await eventually(() => expect(receiver.received.length).toBeGreaterThan(0));
      const secret = new Webhook(stored.endpoint.secret);
      for (const { body, headers } of receiver.received)
        expect(() => secret.verify(body, headers as Record<string, string>)).not.toThrow();
    } finally {
      await loaded.stop();
      await receiver.close();
    }
  });
});

describe('the services of the newest release, while its database is already that of this one', () => {
  let loaded: LoadedRelease;
  let before: Map<string, string>;
  const { statements } = newest.stored;
  if (statements === undefined) throw new Error(`${newest.name} is stored without its SQL`);
  beforeAll(async () => {
    loaded = await loadRelease(newest);
    before = await columnsOf(loaded.db);
    await loaded.migrate();
  });
  afterAll(() => loaded?.drop());
  const why = (whose?: Service[]) => whyFormerCodeFails(loaded, before, statements, whose);

  test('all of their SQL is still possible, as their roles', async () => {
    expect(Object.values(statements).flat().length).toBeGreaterThan(500);
    expect(await why()).toEqual([]);
  });

  test.each<[string, Service, string, string, RegExp]>([
    [
      'a column that is renamed',
      'payouts',
      'alter table payouts.payouts rename column address to recipient',
      'alter table payouts.payouts rename column recipient to address',
      /^payouts \w+: column .*address.* does not exist$/,
    ],
    [
      'a column that is dropped',
      'invoices',
      'alter table invoices.invoices drop column description cascade',
      'alter table invoices.invoices add column description text',
      /^invoices \w+: column .*description.* does not exist$/,
    ],
    [
      'a table that is renamed',
      'ledger',
      'alter table ledger.quotes rename to rates',
      'alter table ledger.rates rename to quotes',
      /^ledger \w+: relation "quotes" does not exist$/,
    ],
    [
      'a right that is taken away',
      'ledger',
      'revoke update on ledger.balances from quittance_ledger',
      'grant update on ledger.balances to quittance_ledger',
      /^ledger \w+: permission denied for table balances$/,
    ],
    [
      'a new column that must be given',
      'signer',
      'alter table signer.cleared_payouts add column note text not null default $$old$$; alter table signer.cleared_payouts alter column note drop default',
      'alter table signer.cleared_payouts drop column note',
      /^signer\.cleared_payouts\.note must be given$/,
    ],
    [
      'a column that may no longer be null',
      'invoices',
      'update invoices.invoices set description = $$$$ where description is null; alter table invoices.invoices alter column description set not null',
      'alter table invoices.invoices alter column description drop not null',
      /^invoices\.invoices\.description may no longer be null$/,
    ],
  ])('what a migration may not do is found: %s', async (_what, whose, change, back, line) => {
    await onServer(loaded.adminUrl, change);
    expect(await why([whose])).toContainEqual(expect.stringMatching(line));
    await onServer(loaded.adminUrl, back);
  });
});
