import { type Units, units } from '@quittance/shared/money';

/** Two blocks, as they usually come: what is in none by then pays too little. */
export const BUMP_AFTER_MS = 20 * 60_000;
export const ATTEMPTS_MAX = 8;
/** Satoshi for each virtual byte: more is a mistake. The sender has a limit of its own. */
const RATE_MAX = 300n;
/** 0.05 BTC: no transaction costs us more, however large it is. */
export const FEE_MAX = units(5_000_000n);

/**
 * The most that a transaction at that rate may cost. A replacement also pays the fees of all that spends from what it
 * replaces, and its recipients can spend from it what they like: up to twice its own fee that is ours to pay, then it
 * waits.
 */
export function mostFor(feeRate: bigint, virtualBytes: number): Units {
  const twice = 2n * feeRate * BigInt(virtualBytes);
  return twice < FEE_MAX ? units(twice) : FEE_MAX;
}

/** The last attempt at a payment that is in no block. */
export type StuckAttempt = {
  attempt: number;
  /** When it was first sent. */
  sentAt: Date | null;
  feeRate: bigint;
};

/** The rate of the next attempt: a quarter more, or what blocks cost by now. Undefined while it may wait. */
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
