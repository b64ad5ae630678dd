import { type Units, units } from '@quittance/shared/money';

/** The usual time of two blocks. A transaction that no block includes by then pays too little. */
export const BUMP_AFTER_MS = 20 * 60_000;
export const ATTEMPTS_MAX = 8;
/** Satoshi per virtual byte. A higher rate is a mistake. The sender has a limit of its own. */
const RATE_MAX = 300n;
/** 0.05 BTC: the limit for a transaction of any size. */
export const FEE_MAX = units(5_000_000n);

/**
 * The highest fee of a transaction at that rate. A replacement must also pay the fees of all transactions that spend from
 * the one that it replaces, and recipients can add such transactions. We pay up to twice the own fee; beyond that the
 * transaction waits.
 */
export function mostFor(feeRate: bigint, virtualBytes: number): Units {
  const twice = 2n * feeRate * BigInt(virtualBytes);
  return twice < FEE_MAX ? units(twice) : FEE_MAX;
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
  if (sentAt === null || now.getTime() - sentAt.getTime() < BUMP_AFTER_MS) return undefined;
  if (attempt >= ATTEMPTS_MAX || feeRate >= RATE_MAX) return undefined;
  const more = feeRate + (feeRate + 3n) / 4n;
  const wanted = more > current ? more : current;
  return wanted < RATE_MAX ? wanted : RATE_MAX;
}
