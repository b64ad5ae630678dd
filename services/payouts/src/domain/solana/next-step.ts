import type { GracePeriods } from '../transaction-state.ts';

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
  return { is: isOver(transaction.lastBroadcastAt, resendAfterMs, now) ? 'to_send' : 'sent' };
}

/** A transaction is valid for about a minute after its signature, so the proof is asked for only after that. */
export const needsExpiryProof = (
  { createdAt }: Pick<OpenSolanaAttempt, 'createdAt'>,
  seen: SolanaObservation,
  now: Date,
  { doubtForMs }: Pick<GracePeriods, 'doubtForMs'>,
): boolean => seen.state === 'absent' && isOver(createdAt, doubtForMs, now);

const isOver = (since: Date | null, ms: number, now: Date): boolean =>
  since === null || now.getTime() - since.getTime() >= ms;
