import type { Broadcast, ChainReader } from '@quittance/chains/chain';
import type { SenderOf, SignerOf } from '@quittance/chains/registry';
import type { AssetSymbol, ChainKind, ChainOf } from '@quittance/shared/assets';

/**
 * Every question that a process puts to its node goes through this: the world lets others go first, and then gives
 * the answer, or loses the question, or loses the answer (`give` was called, and this throws all the same).
 */
export type Ask = <T>(what: string, give: () => T) => Promise<T>;

/**
 * A broadcast is a question like any other whose lost answer is `unknown`: a sender's `broadcast` is exactly
 * `askToBroadcast(ask, () => take(raw))`.
 */
export async function askToBroadcast(ask: Ask, give: () => Broadcast): Promise<Broadcast> {
  try {
    return await ask('broadcast', give);
  } catch {
    return 'unknown';
  }
}

/** What becomes of the transactions in the blocks that a reorganisation takes away. */
export type ReorgFate =
  /** They wait for a block again. */
  | 'pending'
  /** They are mined again at once, in the new branch. */
  | 'moved'
  /** No node has them any more: they are mined when somebody sends them again. */
  | 'forgotten'
  /** Customers' are replaced by transactions that pay somebody else; ours wait again: nobody else has our keys. */
  | 'replaced';

/** A payment that is in the chain at the end. */
export type TruePayment = {
  txHash: string;
  /** As a reader names it. */
  outpoint: string;
  asset: AssetSymbol;
  to: string;
  amount: bigint;
  height: number;
  /** 1 in the head block. */
  confirmations: number;
  /** Signed with a key of ours: a payout, or a sweep. */
  isOurs: boolean;
};

/** How deep the world lets its reorganisations go: less than any asset's confirmations, unless a scenario says so. */
export type SimChainOptions = {
  /** Seeded; the only chance there is. A number in [0, 1). */
  random: () => number;
  /** The world's time; a block is dated with it. */
  now: () => Date;
};

/**
 * A chain with one node, held in memory, that does what the scenario says. Nothing in it waits and nothing in it is left
 * to chance but by `random`. Everything that is not a question of a process (`reader`, `sender`) happens at once.
 */
export type SimChain<K extends ChainKind = ChainKind> = {
  readonly kind: K;
  readonly chain: ChainOf<K>;
  /** What can be paid here, the native asset first. */
  readonly assets: readonly AssetSymbol[];
  /** Confirmations after which the scenarios of this chain count a deposit, and a payout, as done. */
  readonly minConfirmations: number;
  /** So many blocks after it was sent everything has come to its end. */
  readonly settlesAfter: number;
  /** What scenario amounts are multiples of, in smallest units of the asset: well above the dust limit and any fee. */
  readonly unit: (asset: AssetSymbol) => bigint;
  /** The real time between two blocks, by which the world moves its clock. */
  readonly blockMs: number;

  /** One process' view. Made again whenever a process is started. */
  reader(ask: Ask): ChainReader;
  /** One process' view. Made again whenever a process is started. */
  sender(ask: Ask): SenderOf<K>;
  /** With the keys of the one wallet there is. */
  readonly signer: SignerOf<K>;

  /** The address of a derivation index, as the invoices service gives it out. */
  depositAddress(index: number): string;
  hotAddress: string;
  /** Whether we have its key: deposits lie there, or change, or it is the hot wallet. */
  isOurAddress(address: string): boolean;
  /** Canonical, when it is an address of this chain. */
  checkAddress(text: string): string | undefined;
  /** An address that nobody else has: a payout's recipient. */
  recipient(n: number): string;
  /** This recipient refuses what it is sent (EVM); nothing happens on other chains. */
  refuseAt(address: string): void;

  /** Money the operator put into the hot wallet, deep in the chain. */
  fundHot(asset: AssetSymbol, amount: bigint): void;
  /** A customer sends money: it waits for a block. Answers with the name of his transaction. */
  pay(order: { asset: AssetSymbol; to: string; amount: bigint }): string;
  /** The customer takes an unmined payment back (replaces it by one to himself). False when it is mined already. */
  replace(txHash: string): boolean;
  /** The node's pool is empty: it was restarted, or everything was evicted. */
  forgetPool(): void;
  /** A miner who has kept any bytes that ever arrived mines some of them now, whatever came in their place, if he can. */
  mineOld(): void;
  /** The next block takes what waits and can be mined; each further one as well. */
  mine(blocks?: number): void;
  /**
   * The newest `depth` blocks are replaced by at least one more: the new branch is longer.
   * @returns the height of the newest block that stayed, as `truth` counts heights
   */
  reorg(depth: number, fate: ReorgFate): number;
  height(): number;
  /** Whether anything waits that a block would take. */
  isWaiting(): boolean;
  /** Makes the network's fees so high (or usual again) that what was signed before waits. */
  setFees(level: 'usual' | 'high'): void;

  /** All payments in the chain as it is now. */
  truth(): readonly TruePayment[];
  /** The balance of an address in the chain as it is now. */
  balance(asset: AssetSymbol, address: string): bigint;
};
