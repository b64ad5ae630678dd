import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { type Invariant, invariants } from './invariants.ts';

export type Breach = { invariant: string; meaning: string; what: string };

export type BooksReport = {
  breaches: Breach[];
  /** The invariants that were checked, and how much there was to check. */
  checked: {
    invariants: string[];
    transfers: number;
    entries: number;
    balances: number;
    payouts: number;
    deposits: number;
  };
};

export type BooksOptions = {
  /** A role that may read every service's schema. */
  databaseUrl: string;
  /** What is younger may still be on its way from one service to the next. */
  patienceSeconds?: number;
  /** Only what holds within each service by itself: for a service that is tested without the others. */
  aloneOnly?: boolean;
};

const BREACHES_MAX = 100;

/**
 * Checks the books of all services against each other, in one read-only snapshot, so that money in motion
 * is not mistaken for money lost. Changes nothing.
 */
export async function verifyBooks({
  databaseUrl,
  patienceSeconds = 60,
  aloneOnly = false,
}: BooksOptions): Promise<BooksReport> {
  const checked = invariants.filter((invariant) => !aloneOnly || invariant.alone === true);
  const db = openDb({ url: databaseUrl, schema: 'ledger', pool: 1, logger: createLogger('books', 'error') });
  try {
    return await db.transaction(async (trx) => {
      await trx.rows('set transaction isolation level repeatable read, read only');
      await trx.rows(`set local statement_timeout = '10min'`);
      const breaches: Breach[] = [];
      for (const { name, meaning, sql } of checked) {
        const values = sql.includes('$1') ? [patienceSeconds] : [];
        const rows = await trx.rows<{ what: string }>(
          `select what from (${sql}) as breach limit ${BREACHES_MAX}`,
          values,
        );
        breaches.push(...rows.map(({ what }) => ({ invariant: name, meaning, what })));
      }
      const counted = await trx.one<Record<string, number>>(
        `select (select count(*) from ledger.transfers)::int as transfers,
                (select count(*) from ledger.entries)::int as entries,
                (select count(*) from ledger.balances)::int as balances,
                (select count(*) from payouts.payouts)::int as payouts,
                (select count(*) from invoices.deposits)::int as deposits`,
      );
      const { transfers = 0, entries = 0, balances = 0, payouts = 0, deposits = 0 } = counted;
      const names = checked.map((invariant: Invariant) => invariant.name);
      return { breaches, checked: { invariants: names, transfers, entries, balances, payouts, deposits } };
    });
  } finally {
    await db.close();
  }
}
