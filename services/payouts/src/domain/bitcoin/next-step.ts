import type { GracePeriods } from '../transaction-state.ts';

/** What a node says of one attempt. `confirmations` is 1 in the head block. */
export type BitcoinObservation =
  | { state: 'absent' }
  | { state: 'pending' }
  | { state: 'mined'; confirmations: number };

/** Of a group, its attempts in their order: they spend the same UTXOs, so that one at most is mined. */
export type OpenBitcoinGroup = {
  minConfirmations: number;
  attempts: readonly { seen: BitcoinObservation; blockHash: string | null; lastBroadcastAt: Date | null }[];
};

export type BitcoinStep =
  /** `attempt` is as deep as its asset asks: this is how it ended. */
  | { is: 'settled'; attempt: number }
  /** `attempt` is in a block that may still be dropped. */
  | { is: 'in_block'; attempt: number }
  /** `attempt` waits in the node's pool, where nothing waits that contradicts the chain; it is the newest, or that was just sent. */
  | { is: 'waiting'; attempt: number }
  /** The same, but a newer one should be in its place, or it is not known when it was sent: send the newest (again). */
  | { is: 'to_replace'; attempt: number }
  /** The node has none, and was given one a moment ago. */
  | { is: 'sent' }
  /** The node has none: send them again. Why it has none may have to be found out. */
  | { is: 'to_send' };

/** What the chain's state means for a group. Not to be in a pool, or to be thrown out of one, is never an end. */
export function nextBitcoinStep(
  group: OpenBitcoinGroup,
  now: Date,
  { resendAfterMs }: Pick<GracePeriods, 'resendAfterMs'>,
): BitcoinStep {
  const { attempts, minConfirmations } = group;
  const mined = attempts.findIndex(({ seen }) => seen.state === 'mined');
  const seen = attempts[mined]?.seen;
  if (seen?.state === 'mined') {
    return { is: seen.confirmations >= minConfirmations ? 'settled' : 'in_block', attempt: mined };
  }
  const waiting = attempts.findLastIndex(({ seen }) => seen.state === 'pending');
  const sentAt = attempts.at(-1)?.lastBroadcastAt?.getTime();
  const sentLately = sentAt !== undefined && now.getTime() - sentAt < resendAfterMs;
  if (waiting !== -1) {
    // Who sent it may have died before that was noted: it would be called unsent, and wait for ever at a fee too low.
    const isReplaced = (waiting === attempts.length - 1 && sentAt !== undefined) || sentLately;
    return { is: isReplaced ? 'waiting' : 'to_replace', attempt: waiting };
  }
  // Its block was dropped: at once.
  if (attempts.some(({ blockHash }) => blockHash !== null)) return { is: 'to_send' };
  return { is: sentLately ? 'sent' : 'to_send' };
}
