import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { openDb } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { describeSchema, parseSnapshot, snapshotText } from '@quittance/shared/schema-snapshot';
import { onServer } from '@quittance/testkit/databases';
import type { Finding } from '../src/doctor/finding.ts';
import { commandSuite } from './quittance-in.ts';

/** `quittance doctor --schema`: a running database against the snapshots of this release. */
const { env, quittance } = await commandSuite();

const admin = () => env().DATABASE_URL_ADMIN;

async function drift() {
  const { code, json } = await quittance(['doctor', '--schema', '--json'], { DATABASE_URL_ADMIN: admin() });
  const { findings } = json() as { findings: Finding[] };
  const lines = findings
    .filter(({ state }) => state !== 'ok')
    .map(({ subject, found }) => `${subject}: ${found}`);
  return { code, findings, lines };
}

test.each(services)(
  'services/%s/schema.sql is what `node tools/schema-snapshots.ts` writes',
  async (service) => {
    const logger = createLogger('test', 'silent');
    const db = openDb({ url: admin(), schema: 'pg_catalog', pool: 1, logger });
    const described = await describeSchema(db, service);
    await db.close();
    const written = readFileSync(new URL(`../../../services/${service}/schema.sql`, import.meta.url), 'utf8');
    expect(written.slice(written.indexOf('\n--- ') + 1)).toBe(snapshotText(described));
    expect(described).toEqual(parseSnapshot(written));
    expect(described.size).toBeGreaterThan(5);
  },
);

test('a database as the migrations make it has no drift', async () => {
  const { code, findings, lines } = await drift();
  expect([code, lines]).toEqual([0, []]);
  expect(findings.map(({ subject }) => subject)).toEqual([...services]);
});

test.each([
  [
    'a dropped index',
    'drop index payouts.payouts_reserved',
    `create index payouts_reserved on payouts.payouts (asset, seq) where status = 'reserved'`,
    /^table payouts\.payouts: missing: CREATE INDEX payouts_reserved ON payouts\.payouts /,
  ],
  [
    'an extra column',
    'alter table ledger.holds add column note text',
    'alter table ledger.holds drop column note',
    /^table ledger\.holds: not of this release: note text$/,
  ],
  [
    'a column that may be null',
    'alter table ledger.assets alter column dust drop not null',
    'alter table ledger.assets alter column dust set not null',
    /^table ledger\.assets: missing: dust numeric\(78,0\) not null$/,
  ],
  [
    'a constraint that is gone',
    'alter table ledger.assets drop constraint assets_dust_not_negative',
    'alter table ledger.assets add constraint assets_dust_not_negative check (dust >= 0)',
    /^table ledger\.assets: missing: constraint assets_dust_not_negative CHECK /,
  ],
  [
    'a right too many',
    'grant delete on ledger.entries to quittance_ledger',
    'revoke delete on ledger.entries from quittance_ledger',
    /^table ledger\.entries: not of this release: grant delete, insert, select to quittance_ledger$/,
  ],
  [
    'an extra table',
    'create table signer.notes (id int)',
    'drop table signer.notes',
    /^table signer\.notes: not of this release: id integer$/,
  ],
  [
    'a disabled trigger',
    'alter table gateway.audit_log disable trigger user',
    'alter table gateway.audit_log enable trigger user',
    /^table gateway\.audit_log: not of this release: CREATE TRIGGER .* -- disabled$/,
  ],
])('%s is named, until it is healed', async (_name, change, back, line) => {
  await onServer(admin(), change);
  const { code, lines } = await drift();
  await onServer(admin(), back);
  expect(lines).toContainEqual(expect.stringMatching(line));
  expect(code).toBe(1);
  expect((await drift()).lines).toEqual([]);
});
