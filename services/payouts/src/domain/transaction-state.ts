import { assertMoves } from './payout-state.ts';

/**
 * The state of a payout's or sweep's transaction, on every chain.
 *
 * | state | meaning |
 * |---|---|
 * | `signed` | The bytes are stored. A block may include them all the same, when a node's answer was lost. |
 * | `broadcast` | A node has accepted the bytes. |
 * | `mined` | In the chain, as deep as the asset asks. |
 * | `reverted` | The same, and its execution failed for good. |
 * | `dead` | Proved: no block can ever include it. |
 */
export const transactionMoves = {
  signed: ['broadcast', 'mined', 'reverted', 'dead'],
  broadcast: ['mined', 'reverted', 'dead'],
  mined: [],
  reverted: [],
  dead: [],
} as const satisfies Record<string, readonly string[]>;

export type TransactionState = keyof typeof transactionMoves;
export const transactionStates = Object.keys(transactionMoves) as TransactionState[];

/** Where a transaction is on its way: the chain decides about the open ones, and can still drop the ended ones. */
export const transactionPhases = {
  open: ['signed', 'broadcast'],
  ended: ['mined', 'reverted'],
} as const satisfies Record<string, readonly TransactionState[]>;
export type TransactionPhase = keyof typeof transactionPhases;

/**
 * Columns that say more about a state: the phase in which each is written.
 *
 * | column | Bitcoin | EVM | Solana |
 * |---|---|---|---|
 * | `block_hash`, `block_height` | the block that includes it, which may still be dropped | the same | written with the end |
 * | `doubted_at` | an input is not in the chain since | its nonce is used and no receipt exists since | – |
 * | `searched_to` | searched to this block for another spender of an input | for another transaction with its nonce | – |
 * | `valid_to_height` | – | – | the last block that can include it; written once, with the signature |
 * | `looked_at` | the chain was asked last whether the block still stands | the same | the same |
 * | `final_at` | its block is final since | the same | the same |
 * | `missing_since` | a reorganisation has dropped it since | the same | the same |
 */
export const transactionMarks = {
  block_hash: 'open',
  doubted_at: 'open',
  searched_to: 'open',
  looked_at: 'ended',
  missing_since: 'ended',
} as const satisfies Record<string, TransactionPhase>;
export type TransactionMark = keyof typeof transactionMarks;

/** Throws when an open transaction must not move to that state. */
export const assertEndsOpen = (to: TransactionState): void =>
  assertMoves<TransactionState>(transactionMoves, transactionPhases.open, to);

/**
 * Whether a node has not come to the block in which a transaction was final: it is new, or lags. That it does not know
 * the transaction shows no reorganisation then.
 * @param finalized the height of the node's last final block
 */
export const isNodeBehind = (
  finalized: number,
  { finalAt, blockHeight }: { finalAt: Date | null; blockHeight: number | null },
): boolean => finalAt !== null && blockHeight !== null && finalized < blockHeight;

export type GracePeriods = {
  /** The same bytes are sent again after so long in no block. */
  resendAfterMs: number;
  /** What looks impossible may be a node that is late: the blocks are searched for it only after so long. */
  doubtForMs: number;
  /** After so long in no block, an attempt gets a successor that pays a higher fee. */
  stuckAfterMs: number;
};
