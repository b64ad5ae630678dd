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

/** What a transaction pays; `not kept` when the node may have had it, and has thrown it away since. */
export type Payments = Seen['paid'] | 'not in the chain' | 'not kept';

/** What only one transaction of a chain can ever use: the nonce of a wallet, or the output of another transaction. */
export type Claim = { wallet: string; nonce: number } | { outpoint: string };

export type Block = { height: number; hash: string };

/**
 * The eyes of the books on a chain. They ask the node themselves, and share with the services only how a node's
 * answers are read: a mistake of theirs must not be made here again.
 */
export type ChainLook = {
  /**
   * From here on everything is answered as of the node's newest block, which is returned: what comes later is not seen.
   * Nodes of chains other than Ethereum's kind cannot answer so, and go on.
   */
  pin(): Promise<Block | undefined>;
  transaction(txHash: string): Promise<Seen | undefined>;
  /** What this transaction, of a block at this height, pays: of others' too, whose cost may take many questions. */
  payments(txHash: string, height: number): Promise<Payments>;
  /** Of what payments can be seen: tokens of which no contract is in the settings are not among them. */
  assets: ReadonlySet<AssetSymbol>;
  /**
   * Whether the chain shows that this is used, or can never be there: then a transaction of ours that claims it and is
   * in no block will never be in one. False where the node does not tell.
   */
  isTaken(claim: Claim): Promise<boolean>;
  /** What lies in blocks at each of these places, in their order: on account chains addresses, on Bitcoin coins. */
  reserves(asset: AssetSymbol, places: readonly string[]): Promise<bigint[]>;
  /** The hash of the node's block at a height; undefined when it has none there, or none yet. */
  hashAt(height: number): Promise<string | undefined>;
  close(): Promise<void>;
};

/** Looks through one of the configured nodes. */
export function lookAt(settings: ChainSettings, url: string): ChainLook {
  switch (settings.kind) {
    case 'bitcoin':
      return lookAtBitcoin(url);
    case 'evm':
      return lookAtEvm(url, settings);
    case 'solana':
      return lookAtSolana(url, settings);
  }
}
