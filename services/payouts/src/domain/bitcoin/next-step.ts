import { BITCOIN_FEE_MAX } from '@quittance/shared/fee-ceilings';
import { type Units, units } from '@quittance/shared/money';
import { type GracePeriods, isOver, isSentLately } from '../states.ts';

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
  const sentAt = attempts.at(-1)?.lastBroadcastAt ?? null;
  const sentLately = isSentLately(sentAt, resendAfterMs, now);
  if (waiting !== -1) {
    // A process may die after it sent and before it stored that. Without the time of sending no fee is ever raised.
    const isReplaced = (waiting === attempts.length - 1 && sentAt !== null) || sentLately;
    return { is: isReplaced ? 'waiting' : 'to_replace', attempt: waiting };
  }
  // Its block was dropped, so it is sent again at once.
  if (attempts.some(({ blockHash }) => blockHash !== null)) return { is: 'to_send' };
  return { is: sentLately ? 'sent' : 'to_send' };
}

/** The usual time of two blocks. A transaction that no block includes by then pays too little. */
const BUMP_AFTER_MS = 20 * 60_000;
const ATTEMPTS_MAX = 8;
/** Satoshi per virtual byte. A higher rate is a mistake. The sender has a limit of its own. */
const RATE_MAX = 300n;

/**
 * The highest fee of a transaction at that rate. A replacement must also pay the fees of all transactions that spend from
 * the one that it replaces, and recipients can add such transactions. We pay up to twice the own fee; beyond that the
 * transaction waits.
 */
export function mostFor(feeRate: bigint, virtualBytes: number): Units {
  const twice = 2n * feeRate * BigInt(virtualBytes);
  return twice < BITCOIN_FEE_MAX ? units(twice) : BITCOIN_FEE_MAX;
}

/** The newest attempt of a group that no block includes. */
export type StuckAttempt = {
  attempt: number;
  /** When it was first sent. */
  sentAt: Date | null;
  feeRate: bigint;
};

/** The rate of the next attempt: a quarter higher, or the current rate if that is more. Undefined while it can wait. */
export function nextFeeRate(
  { attempt, sentAt, feeRate }: StuckAttempt,
  current: bigint,
  now: Date,
): bigint | undefined {
  if (!isOver(sentAt, BUMP_AFTER_MS, now)) return undefined;
  if (attempt >= ATTEMPTS_MAX || feeRate >= RATE_MAX) return undefined;
  const more = feeRate + (feeRate + 3n) / 4n;
  const wanted = more > current ? more : current;
  return wanted < RATE_MAX ? wanted : RATE_MAX;
}
