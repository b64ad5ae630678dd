import pMap from 'p-map';
import type { ChainObserver, ObservedTransaction } from './chain-observer.ts';
import type { ChainRecords } from './chain-records.ts';

/** How many questions a node is asked at once. */
export const OBSERVED_AT_ONCE = 8;

/** The transactions that are in the chain. */
export type TransactionsByHash = ReadonlyMap<string, ObservedTransaction>;

export const hashesOf = ({ transactions, costs }: Pick<ChainRecords, 'transactions' | 'costs'>): string[] =>
  [...transactions, ...costs].map(({ tx_hash }) => tx_hash);

/** Adds those of these transactions that are in the chain; transactions already in `observed` are not asked for again. */
export async function observeTransactions(
  observer: ChainObserver,
  hashes: readonly string[],
  observed: Map<string, ObservedTransaction>,
): Promise<void> {
  await pMap(
    new Set(hashes.filter((hash) => !observed.has(hash))),
    async (hash) => {
      const found = await observer.transaction(hash);
      if (found !== undefined) observed.set(hash, found);
    },
    { concurrency: OBSERVED_AT_ONCE },
  );
}
