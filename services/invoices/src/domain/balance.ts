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
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Of an invoice that never expires: there may be thousands that nobody will pay. */
const UNENDING_EVERY_MS = 60 * MINUTE_MS;

/** What the next check of an address depends on. */
export type BalanceWatch = {
  /** When its invoice was paid or closed. */
  doneAt: Date | null;
  /** When its invoice was created, if it never expires. */
  unendingSince: Date | null;
};

/**
 * When to check a balance again, at the earliest: at the next block while its invoice is open, less and less often in the
 * week after, then never. The balance of an open invoice that never expires is checked every hour after its first day.
 */
export function nextBalanceCheck({ doneAt, unendingSince }: BalanceWatch, now: Date): Date | null {
  if (doneAt === null) {
    const isOld = unendingSince !== null && now.getTime() - unendingSince.getTime() > DAY_MS;
    return isOld ? new Date(now.getTime() + UNENDING_EVERY_MS) : now;
  }
  const age = now.getTime() - doneAt.getTime();
  return age > WATCHED_MS ? null : new Date(now.getTime() + Math.max(MINUTE_MS, age / 4));
}
