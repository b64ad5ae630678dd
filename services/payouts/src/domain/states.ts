import { invariant } from '@quittance/shared/result';

/**
 * The statuses of a payout. Before the ledger has placed its hold, a payout is refused when the balance is too low, and
 * voided when the ledger's answer did not arrive. One with a hold may wait for approvals of its merchant's policy. From
 * `planned` on the signer may have signed it; what it refuses is `reserved` again. Nothing leaves the wallet before `signed`.
 */
export const payoutMoves = {
  requested: ['awaiting_approval', 'reserved', 'refused', 'voided'],
  awaiting_approval: ['reserved', 'failed'],
  reserved: ['planned', 'failed'],
  planned: ['signed', 'reserved'],
  signed: ['broadcast', 'mined', 'failed'],
  broadcast: ['mined', 'failed'],
  mined: [],
  failed: [],
  refused: [],
  voided: [],
} as const satisfies Record<string, readonly string[]>;

export type PayoutStatus = keyof typeof payoutMoves;
export const payoutStatuses = Object.keys(payoutMoves) as PayoutStatus[];

export const shownStatuses = ['pending', 'mined', 'failed'] as const;
export type ShownStatus = (typeof shownStatuses)[number];

/** The status that a merchant sees; null for a request that never became a payout. */
export const shownAs = {
  requested: null,
  awaiting_approval: 'pending',
  reserved: 'pending',
  planned: 'pending',
  signed: 'pending',
  broadcast: 'pending',
  mined: 'mined',
  failed: 'failed',
  refused: null,
  voided: null,
} as const satisfies Record<PayoutStatus, ShownStatus | null>;

export const statusesShownAs = (shown: ShownStatus): PayoutStatus[] =>
  payoutStatuses.filter((status) => shownAs[status] === shown);

/** The `failed_reason` of a payout that its merchant cancelled. */
export const CANCELLED = 'cancelled';
/** The same of a payout that was rejected while it waited for approvals. */
export const REJECTED = 'Rejected by an approver. Nothing was paid.';

/** Whether a payout failed because its merchant does not want it, so that nothing asks for it again. */
export const isUnwanted = (failedReason: string | null): boolean =>
  failedReason === CANCELLED || failedReason === REJECTED;

/** A payout with one of these statuses has a hold, and certainly no signature. */
export const unsignedStatuses = ['awaiting_approval', 'reserved'] as const satisfies readonly PayoutStatus[];

/** A signed transaction pays a payout with one of these statuses. */
export const paidStatuses = ['signed', 'broadcast'] as const satisfies readonly PayoutStatus[];

/** Throws when the table does not list one of these moves. */
export function assertMoves<S extends string>(moves: Record<S, readonly S[]>, from: readonly S[], to: S) {
  for (const state of from) invariant(moves[state].includes(to), `no move from ${state} to ${to}`);
}

/**
 * The state of a payout's or sweep's transaction, on every chain.
 *
 * | state | meaning |
 * |---|---|
 * | `signed` | The bytes are stored. A block may include them all the same, when a node's answer was lost. |
 * | `broadcast` | A node has accepted the bytes. |
 * | `mined` | In the chain, as deep as the asset asks. |
 * | `reverted` | The same, and its execution failed for good. |
 * | `invalidated` | Proved: no block can ever include it. |
 */
export const transactionMoves = {
  signed: ['broadcast', 'mined', 'reverted', 'invalidated'],
  broadcast: ['mined', 'reverted', 'invalidated'],
  mined: [],
  reverted: [],
  invalidated: [],
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

/** Whether it is at least so long since then; false for null. */
export const isOver = (since: Date | null, ms: number, now: Date): boolean =>
  since !== null && now.getTime() - since.getTime() >= ms;

/** Whether an attempt was sent a moment ago, so that its bytes are not sent again yet. */
export const isSentLately = (sentAt: Date | null, resendAfterMs: number, now: Date): boolean =>
  sentAt !== null && !isOver(sentAt, resendAfterMs, now);

export type GracePeriods = {
  /** The same bytes are sent again when no block includes them after this time. */
  resendAfterMs: number;
  /** A node may lag, so blocks are searched for a conflicting transaction only after this time. */
  doubtForMs: number;
  /** An attempt that no block includes after this time is replaced by one with a higher fee. */
  stuckAfterMs: number;
};
