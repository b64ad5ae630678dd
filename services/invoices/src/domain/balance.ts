import { sum, type Units } from '@quittance/shared/money';

/** A known native transfer to (positive) or from (negative) an address in a block. */
export type Movement = { height: number; amount: Units };

/**
 * The part of a balance at `height` that the balance before and the known transfers do not explain: money that a
 * contract sent, which no block shows.
 */
export function unexplained(
  balance: Units,
  before: Units,
  movements: readonly Movement[],
  height: number,
): Units {
  const known = sum(movements.filter((movement) => movement.height <= height).map(({ amount }) => amount));
  return (balance - before - known) as Units;
}

const MINUTE_MS = 60_000;
const WATCHED_MS = 7 * 24 * 60 * MINUTE_MS;

/**
 * When to check a balance again, at the earliest: at the next block while its invoice is open (null `doneAt`), less
 * and less often in the week after, then never.
 */
export function nextBalanceCheck(doneAt: Date | null, now: Date): Date | null {
  if (doneAt === null) return now;
  const age = now.getTime() - doneAt.getTime();
  return age > WATCHED_MS ? null : new Date(now.getTime() + Math.max(MINUTE_MS, age / 4));
}
