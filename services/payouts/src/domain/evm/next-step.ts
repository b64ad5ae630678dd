import type { GracePeriods } from '../transaction-state.ts';

/** A group whose end is open: signed transactions with one nonce, of which at most one is mined. */
export type OpenEvmGroup = {
  nonce: number;
  minConfirmations: number;
  /** The block it was last seen in. */
  blockHash: string | null;
  lastBroadcastAt: Date | null;
  doubtedAt: Date | null;
};

/** How far the chain has come with the wallet that sends it: the nonces it has used, at two depths. */
export type NonceProgress = { latest: number; finalized: number };

export type EvmStep =
  /** As deep as the asset asks, and final when it failed: this is how it ended. */
  | { is: 'settled'; succeeded: boolean }
  /** In a block that may still be dropped. */
  | { is: 'in_block' }
  /** In no block, sent a moment ago. */
  | { is: 'sent' }
  /** In no block: send the same bytes, for the first time or again. */
  | { is: 'to_send' }
  /** The chain seems to have passed it by, which is no proof of anything. */
  | { is: 'doubtful' }
  /** Proved: another transaction with its nonce was found in a block that is final. */
  | { is: 'replaced' };

/**
 * What a node says of it. `not_reached`: the chain has not come to its nonce, so that it cannot be in a block.
 * `confirmations` is 1 in the head block.
 */
export type EvmObservation =
  | { state: 'absent' | 'pending' | 'not_reached' }
  /** It was found in a block that is final; there is no receipt, so that it is unknown whether it succeeded. */
  | { state: 'found' }
  /** Another transaction with its nonce was found in a block that is final. */
  | { state: 'replaced' }
  | { state: 'mined'; confirmations: number; succeeded: boolean };

/** What the chain's state means for one signed transaction. An error or a silence of the node is never an end. */
export function nextEvmStep(
  transaction: OpenEvmGroup,
  seen: EvmObservation,
  progress: NonceProgress,
  now: Date,
  { resendAfterMs }: GracePeriods,
): EvmStep {
  if (seen.state === 'mined') {
    // A deeper reorganisation could run the same bytes again, and well: money goes back only when that is over.
    const isOverForGood = seen.succeeded || progress.finalized > transaction.nonce;
    const isDeep = seen.confirmations >= transaction.minConfirmations;
    return isDeep && isOverForGood ? { is: 'settled', succeeded: seen.succeeded } : { is: 'in_block' };
  }
  if (seen.state === 'found') return { is: 'in_block' };
  if (seen.state === 'replaced') return { is: 'replaced' };
  if (isPassedBy(transaction, seen, progress)) return { is: 'doubtful' };
  // Its block was dropped: whether the nodes still have it in their pools is not worth asking.
  if (transaction.blockHash !== null) return { is: 'to_send' };
  const sentLately =
    transaction.lastBroadcastAt !== null && !isOver(transaction.lastBroadcastAt, resendAfterMs, now);
  return { is: sentLately ? 'sent' : 'to_send' };
}

/** Whether the blocks themselves must tell what became of it: the chain is beyond it, and the node knows no receipt. */
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
