/** All addresses are looked at within this many comparisons: with one a minute, in two thirds of a day. */
const COMPARISONS_PER_ROUND = 1_000;
const ADDRESSES_MIN = 100;
const DAY_MS = 24 * 3_600_000;

/** Which addresses come next, of so many. */
export const nextAddresses = (after: string, count: number): { after: string; limit: number } => ({
  after,
  limit: Math.max(ADDRESSES_MIN, Math.ceil(count / COMPARISONS_PER_ROUND)),
});

type Round = { after: string; beganAt: Date; endedRoundBeganAt: Date | null };

/** The round after these addresses were looked at. Fewer than were asked for: it has ended, and the next one begins. */
export function afterTurn(
  { beganAt, endedRoundBeganAt }: Round,
  looked: readonly string[],
  limit: number,
  now: Date,
): Round {
  const last = looked.at(-1);
  if (last === undefined || looked.length < limit)
    return { after: '', beganAt: now, endedRoundBeganAt: beganAt };
  return { after: last, beganAt, endedRoundBeganAt };
}

/** Whether a whole look at the addresses of a chain is due, where a node can only read all of them at once. */
export const isLookDue = (lastAt: Date | undefined, now: Date): boolean =>
  lastAt === undefined || now < lastAt || now.getTime() - lastAt.getTime() >= DAY_MS;
