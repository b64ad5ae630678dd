import type { ChainSettings } from '@quittance/chains/settings';
import type { AssetSymbol } from '@quittance/shared/assets';
import { lookAtBitcoin } from './look-bitcoin.ts';
import { lookAtEvm } from './look-evm.ts';
import { lookAtSolana } from './look-solana.ts';

/** What a transaction did, as its chain's node shows it: only those that are in a block. */
export type Seen = {
  succeeded: boolean;
  /** What it cost its sender in native units: the fee, and on Solana the rent of accounts that it opened. */
  cost: bigint;
  paid: { asset: AssetSymbol; address: string; amount: bigint }[];
};

/** Where the money is said to be: on account chains addresses, on Bitcoin coins. */
export type Places = { addresses: readonly string[]; coins: readonly string[] };

/**
 * The eyes of the books on a chain. They ask the node themselves, and share with the services only how a node's
 * answers are read: a mistake of theirs must not be made here again.
 */
export type ChainLook = {
  transaction(txHash: string): Promise<Seen | undefined>;
  /** What lies there in blocks. */
  reserves(asset: AssetSymbol, places: Places): Promise<bigint>;
  close(): Promise<void>;
};

/** Looks through the first of the configured nodes. */
export function lookAt(settings: ChainSettings): ChainLook {
  const [url = ''] = settings.rpcUrls;
  switch (settings.kind) {
    case 'bitcoin':
      return lookAtBitcoin(url);
    case 'evm':
      return lookAtEvm(url, settings);
    case 'solana':
      return lookAtSolana(url, settings);
  }
}
