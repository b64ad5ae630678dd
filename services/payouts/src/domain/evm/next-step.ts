import type { GracePeriods } from '../transaction-state.ts';

/** An open group: signed transactions with one nonce, of which at most one is mined. */
export type OpenEvmGroup = {
  nonce: number;
  minConfirmations: number;
  /** The block it was last seen in. */
  blockHash: string | null;
  lastBroadcastAt: Date | null;
  doubtedAt: Date | null;
};

/** How many nonces of the wallet the chain has used, in all blocks and in final blocks. */
export type NonceProgress = { latest: number; finalized: number };

export type EvmStep =
  /** It has enough confirmations, and is final if it failed. */
  | { is: 'settled'; succeeded: boolean }
  /** A block includes it that can still be dropped. */
  | { is: 'in_block' }
  /** No block includes it, and it was sent a moment ago. */
  | { is: 'sent' }
  /** No block includes it: send its bytes, for the first time or again. */
  | { is: 'to_send' }
  /** The chain has used its nonce and the node has no receipt. This proves nothing. */
  | { is: 'doubtful' }
  /** Proved: a final block includes another transaction with its nonce. */
  | { is: 'replaced' };

/** What a node reports. `not_reached`: the chain has not used its nonce. `confirmations` is 1 in the head block. */
export type EvmObservation =
  | { state: 'absent' | 'pending' | 'not_reached' }
  /** A final block includes it and the node has no receipt, so it is unknown whether it succeeded. */
  | { state: 'found' }
  /** A final block includes another transaction with its nonce. */
  | { state: 'replaced' }
  | { state: 'mined'; confirmations: number; succeeded: boolean };

/** What the chain's state means for a signed transaction. An error or a timeout of the node never ends it. */
export function nextEvmStep(
  transaction: OpenEvmGroup,
  seen: EvmObservation,
  progress: NonceProgress,
  now: Date,
  { resendAfterMs }: GracePeriods,
): EvmStep {
  if (seen.state === 'mined') {
    // After a deeper reorganisation the same bytes could succeed, so money goes back only when the failure is final.
    const isOverForGood = seen.succeeded || progress.finalized > transaction.nonce;
    const isDeep = seen.confirmations >= transaction.minConfirmations;
    return isDeep && isOverForGood ? { is: 'settled', succeeded: seen.succeeded } : { is: 'in_block' };
  }
  if (seen.state === 'found') return { is: 'in_block' };
  if (seen.state === 'replaced') return { is: 'replaced' };
  if (isPassedBy(transaction, seen, progress)) return { is: 'doubtful' };
  // Its block was dropped, so it is sent again at once.
  if (transaction.blockHash !== null) return { is: 'to_send' };
  const sentLately =
    transaction.lastBroadcastAt !== null && !isOver(transaction.lastBroadcastAt, resendAfterMs, now);
  return { is: sentLately ? 'sent' : 'to_send' };
}

/** Whether the blocks must be searched for its nonce: the chain has used the nonce and the node has no receipt. */
export function needsSearch(
  transaction: OpenEvmGroup,
  seen: EvmObservation,
  progress: NonceProgress,
  now: Date,
  { doubtForMs }: GracePeriods,
): boolean {
  if (!isPassedBy(transaction, seen, progress)) return false;
  return transaction.blockHash !== null || isOver(transaction.doubtedAt, doubtForMs, now);
}

const isPassedBy = (transaction: OpenEvmGroup, seen: EvmObservation, progress: NonceProgress): boolean =>
  (seen.state === 'absent' || seen.state === 'pending') && progress.finalized > transaction.nonce;

const isOver = (since: Date | null, ms: number, now: Date): boolean =>
  since !== null && now.getTime() - since.getTime() >= ms;
