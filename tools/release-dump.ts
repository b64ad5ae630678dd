import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { verifyBooks } from '@quittance/reconciliation/verify-books';
import { startQuittance } from '@quittance/testkit/quittance';
import { startReceiver } from '@quittance/testkit/receiver';
import { dumpDatabase } from '../test/releases/dump-database.ts';
import { fillInstallation } from '../test/releases/fill-installation.ts';
import { type StoredRelease, withoutTimes } from '../test/releases/stored-release.ts';
import { root } from './tracked-files.ts';

/**
 * node tools/release-dump.ts VERSION
 *
 * Starts this release, fills it, stops it in the middle of its work, and writes its database and its SQL into test/releases, where
 * each later release is tested with them. Takes about three minutes. Run it when a version is published.
 */

const [version] = process.argv.slice(2);
if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version))
  throw new Error('give it the version, such as 0.2.0');
const folder = join(root, 'test/releases');
const write = (name: string, text: string) =>
  writeFileSync(join(folder, `${version}.${name}.gz`), gzipSync(text, { level: 9 }));

const statements = execFileSync(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', join(root, 'test/privileges/every-statement.ts')],
  { encoding: 'utf8', maxBuffer: 2 ** 26 },
);
const receiver = await startReceiver();
const quittance = await startQuittance({
  chains: ['bitcoin'],
  checkBooks: false,
  checkAnswers: false,
});
try {
  const filled = await fillInstallation(quittance, receiver);
  const { db, stack } = quittance;
  await assertEveryStatus();
  const { discrepancies } = await verifyBooks({ databaseUrl: stack.adminUrl, gracePeriodSeconds: 0 });
  const { webhookSecretsKey } = stack.secrets;
  const onTheWay = withoutTimes(discrepancies);
  const stored: StoredRelease = {
    ...filled,
    webhookSecretsKey,
    onTheWay,
    statements: JSON.parse(statements),
  };
  write('sql', await dumpDatabase(db));
  write('json', JSON.stringify(stored));
} finally {
  await quittance.stop();
  await receiver.close();
}

/** Of each constraint that lists the statuses of invoices and payouts, every one must be there. */
async function assertEveryStatus(): Promise<void> {
  for (const table of ['invoices.invoices', 'payouts.payouts']) {
    const missing = await quittance.db.rows<{ status: string }>(
      `select m[1] as status from pg_constraint k,
         regexp_matches(pg_get_constraintdef(k.oid), '''(\\w+)''::text', 'g') m
       where k.conrelid = $1::regclass and k.conname like '%status\\_known'
       except select status from ${table}`,
      [table],
    );
    if (missing.length > 0)
      throw new Error(`${table} has none that is ${missing.map(({ status }) => status).join(', ')}`);
  }
}
