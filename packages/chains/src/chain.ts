import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';

/** Money that arrived somewhere by a transaction of a block. */
export type Payment = {
  /**
   * Names this payment on this chain, however often its transaction is mined again: `<tx hash>:<n>`.
   * EVM: n is 0 for the native value and 1+k for the k-th log of the transaction.
   */
  outpoint: string;
  txHash: string | null;
  outputIndex: number;
  asset: AssetSymbol;
  /** Canonical: as `addresses` are stored and compared. */
  address: string;
  amount: Units;
};

/** Native money that left an address: the value sent and the fee. */
export type Spend = { txHash: string; address: string; amount: Units };

export type Block = {
  height: number;
  hash: string;
  parentHash: string;
  time: Date;
  payments: Payment[];
  spends: Spend[];
};

export type Head = { height: number; hash: string; time: Date };

/** What a service that holds no key sees of a chain. Every call throws when the node cannot be asked. */
export type ChainReader = {
  chain: Chain;
  /** Throws WrongNetwork when the node is not on the configured network. */
  check(): Promise<void>;
  head(): Promise<Head>;
  /** All payments of the block, to whomever; undefined when the node does not have that height (yet). */
  block(height: number): Promise<Block | undefined>;
  hashAt(height: number): Promise<string | undefined>;
  /** Native balances at a block, for payments that leave no trace in it (contract-sent ETH). */
  balancesAt(addresses: readonly string[], height: number): Promise<Map<string, Units>>;
  /**
   * Best effort: the transaction of block `blockHash` that moved native value to `address` by an internal
   * call; null when there is none or the node cannot trace.
   */
  internalSource(address: string, blockHash: string): Promise<string | null>;
};

export type SignedTransaction = {
  raw: string;
  txHash: string;
  nonce: number;
  /** The most the fee can take, in native units. */
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

/** Where a transaction lies in the chain. */
export type Placed = { txHash: string; height: number; blockHash: string };

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

/** Tokens of a deposit address to the hot wallet, which sends the transaction and pays for it (EIP-3009). */
export type TokenSweepOrder = {
  asset: AssetSymbol;
  index: number;
  amount: Units;
  /** The hot wallet's. */
  nonce: number;
  /** 32 bytes as 0x hex, stored with the order: the token takes each one once. */
  authorizationNonce: string;
  gas: bigint;
  fees: EvmFees;
};

/**
 * What the holder of the keys does on an EVM chain. The same order gives the same bytes, always.
 * Every call throws when the node cannot be asked, but `broadcast`, which never throws.
 */
export type EvmSender = {
  chain: Chain;
  /** Throws WrongNetwork when the node is not on the configured network. */
  check(): Promise<void>;
  /** Canonical. */
  hotAddress: string;
  /** Canonical. */
  depositAddress(index: number): string;
  /** At the newest block. */
  balance(asset: AssetSymbol, address: string): Promise<Units>;
  fees(): Promise<EvmFees>;
  /** Gas of a transfer from the hot wallet; `reverts` when the recipient or the token refuses it. */
  estimateTransfer(asset: AssetSymbol, to: string, amount: Units): Promise<bigint | 'reverts'>;
  signTransfer(order: TransferOrder): Promise<SignedTransaction>;
  /** `not_worth_it` when the balance does not exceed the fee. */
  signNativeSweep(order: NativeSweepOrder): Promise<SignedTransaction | 'not_worth_it'>;
  signTokenSweep(order: TokenSweepOrder): Promise<SignedTransaction>;
  /** A transaction the node already has is `accepted`; so is one that is already mined. */
  broadcast(raw: string): Promise<Broadcast>;
  status(txHash: string): Promise<TransactionStatus>;
  /** How many transactions of `address` are in the chain up to that block: its next nonce there. */
  nonce(address: string, at: 'latest' | 'finalized'): Promise<number>;
  finalizedHeight(): Promise<number>;
  /**
   * The transaction of `address` with that nonce in the blocks from one height to another, both included, found in
   * the blocks themselves: receipts are not asked. Throws when the node lacks one of them.
   */
  findByNonce(
    address: string,
    nonce: number,
    fromHeight: number,
    toHeight: number,
  ): Promise<Placed | undefined>;
};

/** The node serves another network, or another token, than the one configured. */
export class WrongNetwork extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'WrongNetwork';
  }
}
