import type { AssetSymbol } from '@quittance/shared/assets';

/** A transaction in a block, as the chain's node shows it. */
export type ObservedTransaction = {
  succeeded: boolean;
  /** What it cost its sender in native units: the fee, and on Solana the rent of accounts that it opened. */
  cost: bigint;
  paid: { asset: AssetSymbol; address: string; amount: bigint }[];
};

/** What a transaction pays; `not kept` when the node may have had it and has pruned it since. */
export type ObservedPayments = ObservedTransaction['paid'] | 'not in the chain' | 'not kept';

/** Only one transaction of a chain can ever use it: the nonce of a wallet, or the output of another transaction. */
export type SingleUseInput = { wallet: string; nonce: number } | { outpoint: string };

export type ObservedBlock = { height: number; hash: string };

/**
 * Asks a chain's node on behalf of the reconciliation. It shares with the services only the parsing of a node's answers:
 * a mistake of a service must not be repeated here.
 */
export type ChainObserver = {
  /**
   * Fixes all later answers to the node's block at this height, or to its newest one where it has not come so far or is so far
   * ahead that it may not know those balances any more. Only EVM nodes can answer so; for other chains the result is
   * undefined and answers follow the node.
   */
  pin(height: number): Promise<ObservedBlock | undefined>;
  transaction(txHash: string): Promise<ObservedTransaction | undefined>;
  /** What a transaction of a block at this height pays. Cheaper than `transaction`, which also works out the cost. */
  payments(txHash: string, height: number): Promise<ObservedPayments>;
  /** Assets whose payments can be observed: tokens without a contract in the settings cannot. */
  assets: ReadonlySet<AssetSymbol>;
  /**
   * Whether the chain shows that this is used, or can never be there: then a transaction of ours that inputs it and is
   * in no block will never be in one. False where the node does not tell.
   */
  isUsed(input: SingleUseInput): Promise<boolean>;
  /** The balance in blocks at each location, in their order: on account chains addresses, on Bitcoin UTXOs. */
  reserves(asset: AssetSymbol, locations: readonly string[]): Promise<bigint[]>;
  /**
   * What is at each of these addresses, in their order, booked or not. Bitcoin nodes read all outputs there are for
   * that, which takes minutes; what came after the block at `height` is left out there.
   */
  balances(asset: AssetSymbol, addresses: readonly string[], height: number): Promise<bigint[]>;
  /** The hash of the node's block at a height; undefined when it has none there, or none yet. */
  hashAt(height: number): Promise<string | undefined>;
  close(): Promise<void>;
};
