import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '@quittance/shared/assets';
import { openDb } from '@quittance/shared/db';
import { createLogger, reason } from '@quittance/shared/logger';
import type { BalanceSnapshots } from './balance-snapshots.ts';
import { chainInvariants } from './chain-invariants.ts';
import { ChainNotCompared } from './chain-not-compared.ts';
import { type CheckScope, type ReconciledChain, readChainRecords } from './chain-records.ts';
import { checkInvariants } from './check-invariants.ts';
import { type ChainComparison, compareWithChain, NodeOutOfSync } from './compare-with-chain.ts';
import type { Discrepancy } from './discrepancy.ts';
import { type AddressScope, readGivenAddresses } from './given-addresses.ts';
import type { Invariant } from './invariant.ts';
import { invariants } from './invariants.ts';
import { readLateTransactions } from './late-transactions.ts';
import { type Secrets, secretsInLogs } from './secrets-in-logs.ts';
import { type Snapshot, snapshotOf } from './snapshot.ts';

export type BooksReport = {
  discrepancies: Discrepancy[];
  /** Addresses with more than is booked there. No money is missing. */
  excesses: Discrepancy[];
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
    /** Choices of an asset. */
    choices: number;
    /** Invoices whose asset is not chosen. */
    unchosen: number;
  };
};

export type BooksOptions = {
  /** A role that may read every service's schema: the records of services in different databases cannot be compared. */
  databaseUrl: string;
  /** Anything younger may still be on its way from one service to the next. */
  gracePeriodSeconds?: number;
  /** Chains that the records are compared with. */
  chains?: readonly ReconciledChain[];
  /** Payouts that nothing happened to since then, and deposits settled before, are not looked up in their chains. */
  since?: Date;
  /** Log files in which none of these secrets may stand. */
  logs?: { files: readonly string[]; secrets: Secrets };
};

/** Money moves between reading the records and asking a chain: such a discrepancy is not there at the next comparison. */
const COMPARISONS_MAX = 3;
const COMPARE_AGAIN_AFTER_MS = 2_000;
/** Every row of every table is read, once a day or when somebody asks for it. */
const WHOLE_CHECK_MAX_MS = 30 * 60_000;

/**
 * Compares the records of all services with each other, in one read-only snapshot, so that money in motion is not
 * mistaken for lost money; then with the chains. Changes nothing. Throws ChainNotCompared when a node cannot be asked.
 */
export async function verifyBooks(options: BooksOptions): Promise<BooksReport> {
  const { databaseUrl, gracePeriodSeconds = 60, chains = [], since, logs } = options;
  const db = openDb({
    url: databaseUrl,
    schema: 'ledger',
    pool: 1,
    logger: createLogger('books', 'error'),
    answerWithinMs: WHOLE_CHECK_MAX_MS,
  });
  const snapshot = snapshotOf(db, WHOLE_CHECK_MAX_MS);
  try {
    const discrepancies = await checkInvariants(snapshot, invariants, { gracePeriodSeconds });
    const {
      transfers = 0,
      entries = 0,
      balances = 0,
      payouts = 0,
      deposits = 0,
      choices = 0,
      unchosen = 0,
    } = await snapshot((trx) =>
      trx.one<Record<string, number>>(
        `select (select count(*) from ledger.transfers)::int as transfers,
                (select count(*) from ledger.entries)::int as entries,
                (select count(*) from ledger.balances)::int as balances,
                (select count(*) from payouts.payouts)::int as payouts,
                (select count(*) from invoices.deposits)::int as deposits,
                (select count(*) from invoices.asset_choices)::int as choices,
                (select count(*) from invoices.unchosen_invoices)::int as unchosen`,
      ),
    );
    const excesses: Discrepancy[] = [];
    for (const chain of chains) {
      const { discrepancies: found } = await checkChain(
        snapshot,
        chain,
        { gracePeriodSeconds, since },
        { addresses: 'all' },
      );
      for (const one of found) (one.pausesPayouts ? discrepancies : excesses).push(one);
    }
    if (logs !== undefined) discrepancies.push(...(await secretsInLogs(logs.files, logs.secrets)));
    const numbers = new Set<string>(invariants.map((invariant: Invariant) => invariant.number));
    if (chains.length > 0) for (const number of Object.keys(chainInvariants)) numbers.add(number);
    if (logs !== undefined) numbers.add('I11');
    return {
      discrepancies,
      excesses,
      checked: {
        invariants: [...numbers].sort(byNumber),
        chains: chains.map(({ settings }) => settings.chain),
        transfers,
        entries,
        balances,
        payouts,
        deposits,
        choices,
        unchosen,
      },
    };
  } finally {
    await db.close();
  }
}

// eslint-disable-next-line no-restricted-syntax -- of an invariant
const byNumber = (a: string, b: string): number => Number(a.slice(1)) - Number(b.slice(1));

export type CheckedChain = Pick<ChainComparison, 'addresses'> & { discrepancies: Discrepancy[] };

/**
 * Compares the records with a chain, and with `addresses` the addresses that were given out. Throws ChainNotCompared when its
 * node cannot be asked, or is not in sync.
 */
export async function checkChain(
  snapshot: Snapshot,
  chain: ReconciledChain,
  scope: CheckScope,
  { addresses, balances }: { addresses?: AddressScope | undefined; balances?: BalanceSnapshots } = {},
): Promise<CheckedChain> {
  const { chain: name, kind } = chain.settings;
  for (let comparisons = 1; ; comparisons++) {
    const { records, given } = await snapshot(async (trx) => ({
      records: await readChainRecords(trx, chain, scope),
      given: addresses && (await readGivenAddresses(trx, { name, kind }, addresses, scope.suspects ?? [])),
    }));
    const readLate = () => snapshot((trx) => readLateTransactions(trx, name, records.newestTransaction));
    const isLast = comparisons === COMPARISONS_MAX || scope.gracePeriodSeconds === 0;
    try {
      const found = await compareWithChain(records, chain.settings, { addresses: given, balances, readLate });
      // Nothing that is in motion explains more than is booked at an address.
      if (found.discrepancies.every(({ isExcess }) => isExcess) || isLast) {
        const discrepancies = found.discrepancies.map(({ isExcess, ...discrepancy }) => ({
          ...discrepancy,
          ...chainInvariants[discrepancy.invariant],
          chain: name,
          pausesPayouts: isExcess !== true,
        }));
        return { discrepancies, addresses: found.addresses };
      }
    } catch (cause) {
      if (!(cause instanceof NodeOutOfSync)) {
        throw new ChainNotCompared(`the node of ${name} cannot be asked: ${reason(cause)}`, { cause });
      }
      if (isLast) throw new ChainNotCompared(`the node of ${name} lags: ${reason(cause)}`, { cause });
    }
    await sleep(COMPARE_AGAIN_AFTER_MS);
  }
}
