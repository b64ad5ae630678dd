import type { Patience } from '../transaction-state.ts';

/** What a node says of one attempt. `confirmations` is 1 in the head block. */
export type Seen = { state: 'absent' } | { state: 'pending' } | { state: 'mined'; confirmations: number };

/** Of a family, its attempts in their order: they spend the same coins, so that one at most is mined. */
export type OpenFamily = {
  minConfirmations: number;
  attempts: readonly { seen: Seen; blockHash: string | null; lastBroadcastAt: Date | null }[];
};

export type Verdict =
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

/** What the chain's state means for a family. Not to be in a pool, or to be thrown out of one, is never an end. */
export function judge(
  family: OpenFamily,
  now: Date,
  { resendAfterMs }: Pick<Patience, 'resendAfterMs'>,
): Verdict {
  const { attempts, minConfirmations } = family;
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
