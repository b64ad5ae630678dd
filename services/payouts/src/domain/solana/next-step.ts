import type { GracePeriods } from '../transaction-state.ts';

/** The newest attempt of a group: on Solana the only one that may still be mined. */
export type OpenSolanaAttempt = {
  minConfirmations: number;
  createdAt: Date;
  lastBroadcastAt: Date | null;
};

/** What a node says of it. Mined is finalized; `pending`: in a block that is voted for and may still be dropped. */
export type SolanaObservation =
  | { state: 'absent' | 'pending' }
  | { state: 'mined'; confirmations: number; succeeded: boolean };

export type SolanaStep =
  /** As deep as the asset asks: this is how it ended. */
  | { is: 'settled' }
  | { is: 'in_block' }
  /** In no block, sent a moment ago. */
  | { is: 'sent' }
  /** In no block: send the same bytes, for the first time or again. */
  | { is: 'to_send' }
  /** Proved: it can never be mined. */
  | { is: 'expired' };

/**
 * What the chain's state means for one signed transaction. `isDead` is the sender's proof, asked for when `needsProof`
 * says so: an error, a silence or the age of a transaction is never one.
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

/** Whether it is worth asking for: what was signed a moment ago is valid for a minute. */
export const needsExpiryProof = (
  { createdAt }: Pick<OpenSolanaAttempt, 'createdAt'>,
  seen: SolanaObservation,
  now: Date,
  { doubtForMs }: Pick<GracePeriods, 'doubtForMs'>,
): boolean => seen.state === 'absent' && isOver(createdAt, doubtForMs, now);

const isOver = (since: Date | null, ms: number, now: Date): boolean =>
  since === null || now.getTime() - since.getTime() >= ms;
