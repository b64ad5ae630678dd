import type { GracePeriods } from '../transaction-state.ts';

/** What a node says of one attempt. `confirmations` is 1 in the head block. */
export type BitcoinObservation =
  | { state: 'absent' }
  | { state: 'pending' }
  | { state: 'mined'; confirmations: number };

/** The attempts of a group in their order. They spend the same UTXOs, so at most one is mined. */
export type OpenBitcoinGroup = {
  minConfirmations: number;
  attempts: readonly { seen: BitcoinObservation; blockHash: string | null; lastBroadcastAt: Date | null }[];
};

export type BitcoinStep =
  /** `attempt` has enough confirmations. */
  | { is: 'settled'; attempt: number }
  /** `attempt` is in a block that may still be dropped. */
  | { is: 'in_block'; attempt: number }
  /** `attempt` is in the node's mempool, and it is the newest, or the newest was sent a moment ago. */
  | { is: 'waiting'; attempt: number }
  /** `attempt` is in the mempool in place of a newer one, or no time of sending is stored: send the newest again. */
  | { is: 'to_replace'; attempt: number }
  /** The node knows no attempt, and one was sent a moment ago. */
  | { is: 'sent' }
  /** The node knows no attempt: send all again, and look for a conflict. */
  | { is: 'to_send' };

/** What the chain's state means for a group. That a mempool does not hold a transaction never ends it. */
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
    // A process may die after it sent and before it stored that. Without the time of sending no fee is ever raised.
    const isReplaced = (waiting === attempts.length - 1 && sentAt !== undefined) || sentLately;
    return { is: isReplaced ? 'waiting' : 'to_replace', attempt: waiting };
  }
  // Its block was dropped, so it is sent again at once.
  if (attempts.some(({ blockHash }) => blockHash !== null)) return { is: 'to_send' };
  return { is: sentLately ? 'sent' : 'to_send' };
}
