import { verifyBooks } from '@quittance/reconciliation/verify-books';
import { migrateAll } from '@quittance/shared/migrate-all';
import { z } from 'zod';
import { watchedChains } from './chain-settings.ts';
import { adminDatabase, databasePasswords, operatorPassword } from './database-settings.ts';
import { discrepancyLines } from './discrepancy-lines.ts';
import { knownSecrets } from './known-secrets.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { table } from './table.ts';

const CONNECTIONS_VARIABLE = 'DATABASE_CONNECTIONS_MAX';
/** The most that Postgres itself can be set to. */
const connectionsSchema = z.coerce.number().int().min(1).max(262_143);

const DAY_MS = 24 * 3_600_000;

export async function migrate(around: Surroundings): Promise<SaidOutcome> {
  const done = await migrateAll({
    adminUrl: adminDatabase(around),
    passwordOf: databasePasswords(around),
    operatorPassword: operatorPassword(around),
    connectionsMax: connectionsMax(around),
  });
  const rows = done.map(({ service, applied }) => [
    service,
    applied.length === 0 ? 'was up to date' : applied.join(', '),
  ]);
  return {
    json: Object.fromEntries(done.map(({ service, applied }) => [service, applied])),
    text: table(['SERVICE', 'APPLIED'], rows),
  };
}

/** How many connections each service's role may have; undefined: as many as is usual. */
function connectionsMax({ env }: Surroundings): number | undefined {
  const given = env[CONNECTIONS_VARIABLE];
  if (!given) return undefined;
  const parsed = connectionsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new CommandError(
    `${CONNECTIONS_VARIABLE} is how many connections each service's role may have at once, a whole number, and not ${JSON.stringify(given)}.`,
  );
}

export type BooksOrder = { gracePeriodSeconds: number; days: number; logs: readonly string[] };

export async function checkBooks(
  around: Surroundings,
  { gracePeriodSeconds, days, logs }: BooksOrder,
): Promise<SaidOutcome> {
  const chains = watchedChains(around);
  const since = new Date(Date.now() - days * DAY_MS);
  const { discrepancies, excesses, checked } = await verifyBooks({
    databaseUrl: adminDatabase(around),
    gracePeriodSeconds,
    chains,
    since,
    ...(logs.length === 0 ? {} : { logs: { files: logs, secrets: knownSecrets(around) } }),
  });
  const { invariants, chains: seen, ...counts } = checked;
  const amounts = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  const summary =
    `${invariants.join(', ')} checked over ${amounts.join(', ')}` +
    (seen.length === 0
      ? '; no chain was asked: set <CHAIN>_RPC_URL and what belongs to it'
      : `; compared with ${seen.join(', ')}`);
  const more =
    excesses.length === 0
      ? ''
      : say`${discrepancyLines(excesses)}\nMore is there than is booked, at ${excesses.length} addresses. No money is missing.\n`;
  return {
    // `breaches` is the former name of `discrepancies`; it goes after one release.
    json: { discrepancies, breaches: discrepancies, excesses, checked },
    text:
      discrepancies.length === 0
        ? say`${more}The books are right. ${summary}.\n`
        : say`${more}${discrepancyLines(discrepancies)}
The books are WRONG: ${discrepancies.length} discrepancies. ${summary}.\n`,
    bad: discrepancies.length > 0,
  };
}
