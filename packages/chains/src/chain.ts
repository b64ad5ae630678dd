import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';

/** Money that arrived somewhere by a transaction of a block. */
export type Payment = {
  /**
   * Names this payment on this chain, however often its transaction is mined again: `<tx hash>:<n>`.
   * Bitcoin: n is the output. EVM: n is 0 for the native value and 1+k for the k-th log of the transaction.
   * Solana: n is the index of the account whose balance grew, among the transaction's accounts.
   */
  outpoint: string;
  txHash: string | null;
  outputIndex: number;
  asset: AssetSymbol;
  /** Canonical: as `addresses` are stored and compared. */
  address: string;
  amount: Units;
  /** It counts only this deep, when that is deeper than its asset asks (a coinbase: 100). */
  confirmationsMin?: number;
};

/** A payment that is asked for. */
export type WantedPayment = {
  asset: AssetSymbol;
  /** Canonical. */
  address: string;
  amount: Units;
  /** Names what is paid. On Solana a wallet writes a key that is derived from it into the transaction. */
  reference: string;
  /** Texts that a wallet may show: who is paid, and what for. */
  label?: string | undefined;
  message?: string | undefined;
};

/** A transaction that a wallet in the browser is asked to send. */
export type WalletTransfer = { chainId: number; to: string; value: bigint; data: string };

/** `n`: see Payment.outpoint. */
export const paymentOf = (
  txHash: string,
  n: number,
  asset: AssetSymbol,
  address: string,
  amount: bigint,
): Payment => ({
  outpoint: `${txHash}:${n}`,
  txHash,
  outputIndex: n,
  asset,
  address,
  amount: amount as Units,
});

/** Native money that left an address: the value sent and the fee. */
export type NativeDebit = { txHash: string; address: string; amount: Units };

export type Block = {
  height: number;
  hash: string;
  parentHash: string;
  time: Date;
  payments: Payment[];
  spends: NativeDebit[];
};

export type Head = { height: number; hash: string; time: Date };

/**
 * Reads one chain, without keys. Every call throws when the node does not answer. A height has at most one block; on
 * Solana, where heights are slots, some heights have none.
 */
export type ChainReader = {
  chain: Chain;
  /**
   * Throws WrongNetwork when the node is not on the configured network. Of the network alone it is asked with every batch of
   * new blocks: tokens are not looked at then, and of several nodes a quorum has to be right.
   */
  check(of?: 'network'): Promise<void>;
  head(): Promise<Head>;
  /** All payments of the block, to any address; undefined when the node has no block of that height (yet). */
  block(height: number): Promise<Block | undefined>;
  /** The next blocks above `height`, lowest first, at most `limit`; fewer, or none, near the head. */
  blocksAfter(height: number, limit: number): Promise<Block[]>;
  hashAt(height: number): Promise<string | undefined>;
  /** For chains where native money may come without a trace in its block. */
  balances?: BalanceReader;
  /** With several nodes: how many of them the others went on without in the last minute. */
  nodesLeftOut?(): number;
  /** For chains that show payments before they are in a block that counts. */
  watchPending?(): PendingWatch;
  close(): Promise<void>;
};

/** While catching up; a node serves a few at once as fast as one. */
const BLOCKS_AT_ONCE = 4;

/**
 * `blocksAfter` of a chain whose heights have no gaps: one after the other up to the first that is not there, or
 * that is not the child of the one before it, because the node changed its mind in between.
 */
export async function blocksAfter(
  block: ChainReader['block'],
  height: number,
  limit: number,
  atOnce = BLOCKS_AT_ONCE,
): Promise<Block[]> {
  const blocks: Block[] = [];
  // At the head, which is the usual case, one question is enough.
  for (let asked = 1; blocks.length < limit; asked = atOnce) {
    const from = height + blocks.length + 1;
    const count = Math.min(asked, limit - blocks.length);
    const found = await Promise.all(Array.from({ length: count }, (_, i) => block(from + i)));
    for (const next of found) {
      const last = blocks.at(-1);
      if (next === undefined || (last !== undefined && next.parentHash !== last.hash)) return blocks;
      blocks.push(next);
    }
  }
  return blocks;
}

/** Native money a contract sends leaves no log and no matching recipient, only a balance. */
export type BalanceReader = {
  /** Native balances at a block. */
  balancesAt(addresses: readonly string[], height: number): Promise<Map<string, Units>>;
  /**
   * Best effort: the transaction of block `blockHash` that moved native value to `address` by an internal
   * call; null when there is none or the node cannot trace.
   */
  internalSource(address: string, blockHash: string): Promise<string | null>;
};

/**
 * Payments that may still be replaced or dropped: Bitcoin's mempool, and Solana's blocks that are confirmed and not
 * finalized. It remembers what it returned before.
 */
export type PendingWatch = { look(): Promise<PendingLook> };
export type PendingLook = {
  /** Payments of transactions that earlier looks did not return, to any address. */
  fresh: Payment[];
  /** Whether a transaction is pending now. */
  has(txHash: string): boolean;
  /**
   * The head's height, read after the pending transactions: one that is no longer pending is in a block up to here, or
   * will not be mined as it was.
   */
  height: number;
  /** False when one look did not return everything: the next ones go on. Undefined where a look returns everything. */
  isComplete?: boolean;
};

export type SignedTransaction = {
  /** As it is broadcast: hex, or base64 on Solana. */
  raw: string;
  txHash: string;
  /** The most the fee (on Solana: and the rent of accounts that it opens) can take, in native units. */
  maxCost: Units;
};

/** `unknown`: it may have reached the network or not; only the chain can tell. Never a failure. */
export type Broadcast = 'accepted' | 'rejected' | 'unknown';

export type TransactionStatus =
  | { state: 'absent' }
  | { state: 'pending' }
  | {
      state: 'mined';
      height: number;
      blockHash: string;
      /** 1 in the head block. */
      confirmations: number;
      succeeded: boolean;
      feePaid: Units;
    };

/** The block that a transaction is in. */
export type Inclusion = { txHash: string; height: number; blockHash: string };

/** Payouts are paid from it, and operators send money to it. Canonical. */
export type HotWallet = { hotAddress: string };

/** The addresses of a wallet, without its keys. Canonical. */
export type WalletAddresses = HotWallet & {
  depositAddress(index: number): string;
};

/**
 * Asks the node of one chain, and sends what a signer has signed. It has no keys: what is signed is in the orders of each
 * kind's signer, complete.
 * Every call throws when the node does not answer, except `broadcast`, which never throws.
 */
export type ChainSender = HotWallet & {
  chain: Chain;
  /** Throws WrongNetwork when the node is not on the configured network. */
  check(): Promise<void>;
  /** The balance of `address` at the newest block. */
  balance(asset: AssetSymbol, address: string): Promise<Units>;
  /** The fee that a typical payout of this asset costs now, in native units: the estimate behind `network_fee`. */
  estimatedFee(asset: AssetSymbol): Promise<Units>;
  /** A transaction the node already has is `accepted`; so is one that is already mined. */
  broadcast(raw: string): Promise<Broadcast>;
  status(txHash: string): Promise<TransactionStatus>;
  /** The highest block that cannot be reorganised away. */
  finalizedHeight(): Promise<number>;
  /** Names the newest block. Until it is another one, the chain has nothing new to tell. Not where there is always a new one. */
  newestBlock?(): Promise<string>;
  close(): Promise<void>;
};

export type EvmFees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

export type TransferOrder = {
  asset: AssetSymbol;
  /** Any spelling that checkAddress accepts. */
  to: string;
  amount: Units;
  /** The hot wallet's. */
  nonce: number;
  gas: bigint;
  fees: EvmFees;
};

/** All native money of the deposit address, less the fee, to the hot wallet. */
export type NativeSweepOrder = { index: number; balance: Units; nonce: number; fees: EvmFees };

/** What signatures for a token are bound to (EIP-712). */
export type TokenDomain = {
  name: string;
  version: string;
  chainId: number;
  verifyingContract: `0x${string}`;
};

/** Tokens of a deposit address to the hot wallet, which sends the transaction and pays for it (EIP-3009). */
export type TokenSweepOrder = {
  asset: AssetSymbol;
  index: number;
  amount: Units;
  /** The hot wallet's. */
  nonce: number;
  /** 32 bytes as 0x hex, stored with the order: the token takes each one once. */
  authorizationNonce: string;
  /** As the token has told, see EvmSender.tokenDomain. */
  domain: TokenDomain;
  gas: bigint;
  fees: EvmFees;
};

export type EvmSender = ChainSender & {
  newestBlock(): Promise<string>;
  fees(): Promise<EvmFees>;
  /** Gas of a transfer from the hot wallet; `reverts` when the recipient or the token refuses it. */
  estimateTransfer(asset: AssetSymbol, to: string, amount: Units): Promise<bigint | 'reverts'>;
  /** What the token's signatures are bound to. Each node is asked once. */
  tokenDomain(asset: AssetSymbol): Promise<TokenDomain>;
  /**
   * How many transactions of `address` are in the chain up to that block: its next nonce there. `pending` counts those of
   * the mempool as well; of several nodes the highest.
   */
  nonce(address: string, at: 'pending' | 'latest' | 'finalized'): Promise<number>;
  /**
   * The transaction of `address` with that nonce in the blocks from one height to another, both included, found in
   * the blocks themselves: receipts are not asked. Throws when the node lacks one of them.
   */
  findByNonce(
    address: string,
    nonce: number,
    fromHeight: number,
    toHeight: number,
  ): Promise<Inclusion | undefined>;
};

/** The deposit addresses below an extended public key, which can name them and not spend from them. */
export type DepositAddresses = {
  /** The canonical address of an index. Takes about a millisecond. */
  at(index: number): string;
};

/** The node serves another network, or another token, than the one configured. */
export class WrongNetwork extends Error {
  override name = 'WrongNetwork';
}

/** The node does not have the configured token's contract: it is on another network, or still syncing. */
export class LacksToken extends WrongNetwork {}

/**
 * No quorum of a chain's nodes says the same, or it contradicts what it said before. A reason to wait, never an answer:
 * nothing failed and nothing succeeded.
 */
export class NoQuorum extends Error {
  override name = 'NoQuorum';
}

export function within(floor: bigint, value: bigint, cap: bigint): bigint {
  if (value < floor) return floor;
  return value > cap ? cap : value;
}
