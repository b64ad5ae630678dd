import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '@quittance/shared/assets';
import { openDb, type Trx } from '@quittance/shared/db';
import { createLogger, reason } from '@quittance/shared/logger';
import {
  chainMeanings,
  compareWithChain,
  type Limits,
  readStory,
  type WatchedChain,
} from './chain-invariants.ts';
import { type Invariant, invariants } from './invariants.ts';

export type Breach = { invariant: string; meaning: string; what: string };

export type BooksReport = {
  breaches: Breach[];
  /** The invariants that were checked, and how much there was to check. */
  checked: {
    invariants: string[];
    /** The chains whose nodes were asked. */
    chains: Chain[];
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
  /** Chains that the books are compared with. */
  chains?: readonly WatchedChain[];
  /** Payouts that nothing happened to since then are not looked up in their chains. */
  since?: Date;
};

/** A chain's node could not be asked, so the books were not checked against it. */
export class ChainUnseen extends Error {
  override name = 'ChainUnseen';
}

const BREACHES_MAX = 100;
/** Money moves between reading the books and asking a chain: what is wrong only for that moment is read again. */
const LOOKS_MAX = 3;
const LOOK_AGAIN_AFTER_MS = 2_000;

/**
 * Checks the books of all services against each other, in one read-only snapshot, so that money in motion is not
 * mistaken for money lost; then against the chains. Changes nothing. Throws ChainUnseen when a node cannot be asked.
 */
export async function verifyBooks(options: BooksOptions): Promise<BooksReport> {
  const { databaseUrl, patienceSeconds = 60, aloneOnly = false, chains = [], since } = options;
  const checked = invariants.filter((invariant) => !aloneOnly || invariant.alone === true);
  const db = openDb({ url: databaseUrl, schema: 'ledger', pool: 1, logger: createLogger('books', 'error') });
  const snapshot = <T>(work: (trx: Trx) => Promise<T>): Promise<T> =>
    db.transaction(async (trx) => {
      await trx.rows('set transaction isolation level repeatable read, read only');
      await trx.rows(`set local statement_timeout = '10min'`);
      return await work(trx);
    });

  async function breachesOnChain(chain: WatchedChain): Promise<Breach[]> {
    const limits: Limits = { patienceSeconds, since };
    for (let looks = 1; ; looks++) {
      const story = await snapshot((trx) => readStory(trx, chain, limits));
      const found = await compareWithChain(story, chain.settings).catch((cause: unknown) => {
        const what = `the node of ${chain.settings.chain} cannot be asked: ${reason(cause)}`;
        throw new ChainUnseen(what, { cause });
      });
      if (found.length === 0 || looks === LOOKS_MAX || patienceSeconds === 0) {
        return found.map((breach) => ({ ...breach, meaning: chainMeanings[breach.invariant] }));
      }
      await sleep(LOOK_AGAIN_AFTER_MS);
    }
  }

  try {
    const { breaches, counts } = await snapshot(async (trx) => {
      const found: Breach[] = [];
      for (const { name, meaning, sql } of checked) {
        const values = sql.includes('$1') ? [patienceSeconds] : [];
        const rows = await trx.rows<{ what: string }>(
          `select what from (${sql}) as breach limit ${BREACHES_MAX}`,
          values,
        );
        found.push(...rows.map(({ what }) => ({ invariant: name, meaning, what })));
      }
      const counted = await trx.one<Record<string, number>>(
        `select (select count(*) from ledger.transfers)::int as transfers,
                (select count(*) from ledger.entries)::int as entries,
                (select count(*) from ledger.balances)::int as balances,
                (select count(*) from payouts.payouts)::int as payouts,
                (select count(*) from invoices.deposits)::int as deposits`,
      );
      return { breaches: found, counts: counted };
    });
    for (const chain of chains) breaches.push(...(await breachesOnChain(chain)));
    const { transfers = 0, entries = 0, balances = 0, payouts = 0, deposits = 0 } = counts;
    const names = new Set(checked.map((invariant: Invariant) => invariant.name));
    if (chains.length > 0) for (const name of Object.keys(chainMeanings)) names.add(name);
    return {
      breaches,
      checked: {
        invariants: [...names].sort(),
        chains: chains.map(({ settings }) => settings.chain),
        transfers,
        entries,
        balances,
        payouts,
        deposits,
      },
    };
  } finally {
    await db.close();
  }
}
