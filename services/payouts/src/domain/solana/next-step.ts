import { type GracePeriods, isOver, isSentLately } from '../states.ts';

/** The newest attempt of a group. On Solana only this one can still be mined. */
export type OpenSolanaAttempt = {
  minConfirmations: number;
  createdAt: Date;
  lastBroadcastAt: Date | null;
};

/** What a node reports. `mined`: in a finalized block. `pending`: in a block that can still be dropped. */
export type SolanaObservation =
  | { state: 'absent' | 'pending' }
  | { state: 'mined'; confirmations: number; succeeded: boolean };

export type SolanaStep =
  /** It has enough confirmations. */
  | { is: 'settled' }
  | { is: 'in_block' }
  /** No block includes it, and it was sent a moment ago. */
  | { is: 'sent' }
  /** No block includes it: send its bytes, for the first time or again. */
  | { is: 'to_send' }
  /** Proved: it can never be mined. */
  | { is: 'expired' };

/**
 * What the chain's state means for a signed transaction. `isExpired`: the sender has proved non-inclusion, which it is
 * asked for when `needsExpiryProof` is true. An error, a timeout or the age of a transaction proves nothing.
 */
export function nextSolanaStep(
  transaction: OpenSolanaAttempt,
  seen: SolanaObservation,
  isExpired: boolean,
  now: Date,
  { resendAfterMs }: Pick<GracePeriods, 'resendAfterMs'>,
): SolanaStep {
  if (seen.state === 'mined') {
    return { is: seen.confirmations >= transaction.minConfirmations ? 'settled' : 'in_block' };
  }
  if (seen.state === 'pending') return { is: 'in_block' };
  if (isExpired) return { is: 'expired' };
  return { is: isSentLately(transaction.lastBroadcastAt, resendAfterMs, now) ? 'sent' : 'to_send' };
}

/** A transaction is valid for about a minute after its signature, so the proof is asked for only after that. */
export const needsExpiryProof = (
  { createdAt }: Pick<OpenSolanaAttempt, 'createdAt'>,
  seen: SolanaObservation,
  now: Date,
  { doubtForMs }: Pick<GracePeriods, 'doubtForMs'>,
): boolean => seen.state === 'absent' && isOver(createdAt, doubtForMs, now);

/** The network accepts the same bytes once, so two transfers that are otherwise equal get different priority fees. */
const DISTINCT_FEES = 997n;
/** Each attempt after an expired one offers twice the priority fee. */
const DOUBLINGS_MAX = 5;

/**
 * The priority fee of a payout's attempt, in millionths of a lamport per compute unit: the usual one, doubled for each
 * attempt before it, and up to 996 more, by which it differs from those of other payouts.
 */
export function priorityFeeOf(usual: bigint, payoutSeq: string, attemptsBefore: number): bigint {
  const doubled = usual << BigInt(Math.min(attemptsBefore, DOUBLINGS_MAX));
  return doubled + (BigInt(payoutSeq) % DISTINCT_FEES);
}

/** The highest `priorityFeeOf` of a first attempt. Plans count with it. */
export const highestPriorityFee = (usual: bigint): bigint => usual + DISTINCT_FEES;
