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

/** Open: the chain has not decided. Ended: the chain has decided, and can still drop the block. */
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
export const columnPhases = {
  block_hash: 'open',
  doubted_at: 'open',
  searched_to: 'open',
  looked_at: 'ended',
  missing_since: 'ended',
} as const satisfies Record<string, TransactionPhase>;
export type PhaseColumn = keyof typeof columnPhases;

/**
 * Whether a node has not reached the block in which a transaction was final. That such a node does not know the
 * transaction is no sign of a reorganisation.
 * @param finalized the height of the node's last final block
 */
export const isNodeBehind = (
  finalized: number,
  { finalAt, blockHeight }: { finalAt: Date | null; blockHeight: number | null },
): boolean => finalAt !== null && blockHeight !== null && finalized < blockHeight;

export type GracePeriods = {
  /** The same bytes are sent again when no block includes them after this time. */
  resendAfterMs: number;
  /** A node may lag, so blocks are searched for a conflicting transaction only after this time. */
  doubtForMs: number;
  /** An attempt that no block includes after this time is replaced by one with a higher fee. */
  stuckAfterMs: number;
};
