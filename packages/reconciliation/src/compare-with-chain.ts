import type { ChainSettings } from '@quittance/chains/settings';
import type { Chain } from '@quittance/shared/assets';
import { reason } from '@quittance/shared/logger';
import pMap from 'p-map';
import { BalanceSnapshots } from './balance-snapshots.ts';
import type { ChainDiscrepancy } from './chain-invariants.ts';
import type { ChainObserver, ObservedTransaction } from './chain-observer.ts';
import type { ChainRecords } from './chain-records.ts';
import { type ComparedAddresses, compareAddresses } from './compare-addresses.ts';
import { compareDeposits } from './compare-deposits.ts';
import { compareCosts, comparePayouts } from './compare-payouts.ts';
import { compareReserves, type ReadLate } from './compare-reserves.ts';
import type { GivenAddresses } from './given-addresses.ts';
import { observeChain } from './observe-chain.ts';
import {
  hashesOf,
  OBSERVED_AT_ONCE,
  observeTransactions,
  type TransactionsByHash,
} from './observe-transactions.ts';

/** The node is not at the block where the records are: what it does not show may be on the chain all the same. */
export class NodeOutOfSync extends Error {
  override name = 'NodeOutOfSync';
}

/** What was compared. `addresses`: of those that were given out; undefined when none was to be looked at. */
export type ChainComparison = {
  discrepancies: ChainDiscrepancy[];
  addresses: ComparedAddresses | undefined;
};

export type Comparing = {
  /** Addresses that were given out. */
  addresses?: GivenAddresses | undefined;
  balances?: BalanceSnapshots | undefined;
  readLate?: ReadLate;
};

const nothingLate: ReadLate = async () => ({ transactions: [], payouts: [] });

/**
 * Compares the records with the chain, through the first of its nodes that can be asked and is in sync with the records.
 * Throws when none is.
 */
export async function compareWithChain(
  records: ChainRecords,
  settings: ChainSettings,
  { addresses, balances = new BalanceSnapshots(), readLate = nothingLate }: Comparing = {},
): Promise<ChainComparison> {
  const failures: unknown[] = [];
  for (const url of settings.rpcUrls) {
    const observer = observeChain(settings, url.reveal());
    try {
      return await compareThrough(observer, records, settings.chain, { addresses, balances, readLate });
    } catch (error) {
      failures.push(error);
    } finally {
      await observer.close();
    }
  }
  const text = failures.map(reason).join('; ');
  // A moment later a node that lags has caught up.
  const lags = failures.some((error) => error instanceof NodeOutOfSync);
  throw lags ? new NodeOutOfSync(text, { cause: failures }) : new Error(text, { cause: failures });
}

/** Reserves are compared first: the nearer to the moment of the snapshot, the less money has moved since. */
async function compareThrough(
  observer: ChainObserver,
  records: ChainRecords,
  chain: Chain,
  {
    addresses,
    balances,
    readLate,
  }: Pick<Comparing, 'addresses'> & { balances: BalanceSnapshots; readLate: ReadLate },
): Promise<ChainComparison> {
  const at = await observer.pin(records.height);
  if (at !== undefined && at.height < records.height)
    throw new NodeOutOfSync(`it has not come to block ${records.height}`);
  await assertInSync(observer, records);
  const observed = new Map<string, ObservedTransaction>();
  const reserves = await compareReserves(records, observed, chain, observer, balances, readLate);
  await observeTransactions(observer, hashesOf(records), observed);
  const sure = await withConflictedTransactions(records, observed, observer);
  const deposits = await compareDeposits(records, observer);
  const looked =
    addresses &&
    // A node may refuse to read all its outputs: what lies at ours is compared all the same.
    (await compareAddresses(addresses, chain, observer, records.height).catch((error: unknown) => {
      return { inTurn: [], lookedAt: [], failed: reason(error), discrepancies: [] };
    }));
  if (at === undefined) await assertInSync(observer, records);
  else if ((await observer.hashAt(at.height)) !== at.hash)
    throw new NodeOutOfSync(`it has dropped block ${at.height} while it was asked`);
  return {
    discrepancies: [
      ...comparePayouts(sure, observed),
      ...deposits,
      ...(looked?.discrepancies ?? []),
      ...compareCosts(sure, observed, chain),
      ...reserves,
    ],
    addresses: looked,
  };
}

/**
 * A transaction that was mined and has left the chain may come back as long as it is not final. It cannot when the chain
 * shows that another transaction has used one of its inputs: then there is no grace period for it.
 */
async function withConflictedTransactions(
  records: ChainRecords,
  observed: TransactionsByHash,
  observer: ChainObserver,
): Promise<ChainRecords> {
  const there = new Set(
    records.transactions.filter(({ tx_hash }) => observed.has(tx_hash)).map(({ group_id }) => group_id),
  );
  const lost = new Set<string>();
  await pMap(
    records.inputs.filter(({ group_id }) => !there.has(group_id)),
    async ({ group_id, input }) => {
      if (await observer.isUsed(input)) lost.add(group_id);
    },
    { concurrency: OBSERVED_AT_ONCE },
  );
  if (lost.size === 0) return records;
  return {
    ...records,
    transactions: records.transactions.map((one) =>
      lost.has(one.group_id) ? { ...one, may_leave: false } : one,
    ),
  };
}

/**
 * A node that lags does not have the blocks that the records speak of, and a node on another branch has other ones: the
 * chain is reorganising, or this node disagrees with the nodes that the services ask.
 */
async function assertInSync(observer: ChainObserver, { cursor, height }: ChainRecords): Promise<void> {
  const hash = await observer.hashAt(cursor?.height ?? 0);
  if (cursor !== undefined) {
    if (hash === undefined) throw new NodeOutOfSync(`it has not come to block ${cursor.height}`);
    if (hash !== cursor.hash) throw new NodeOutOfSync(`it has another block ${cursor.height}`);
  }
  // On Solana a height is a slot, which may have no block: that one stays what was observed in a block of it.
  if (height > (cursor?.height ?? 0) && (await observer.hashAt(height)) === undefined) {
    throw new NodeOutOfSync(`it has not come to block ${height}`);
  }
}
