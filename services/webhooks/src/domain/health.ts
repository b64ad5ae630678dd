import type { Verdict } from './outcome.ts';

/** How an endpoint has been doing: attempts that failed since its last success, and since when. */
export type Health = { failures: number; failingSince: Date | null };

export const healthy: Health = { failures: 0, failingSince: null };

/** Attempts under way at once, by failures in a row: one that does not answer keeps one slot, not sixteen. */
const slotsByFailures = [16, 8, 4, 2, 1] as const;
/** No endpoint takes more of what is free than this part: something is always left for the others. */
const PART_OF_FREE = 16;
const DISABLE_AFTER_MS = 5 * 24 * 3_600_000;

export const slotsOf = (failures: number): number => slotsByFailures[failures] ?? 1;

/**
 * How many attempts each of `lanes` may begin now, `room` in all, so that each gets some before one gets all.
 * @param free how many could be begun if nobody else came
 */
export function shareOut(lanes: readonly { failures: number }[], room: number, free: number): number[] {
  const even = Math.max(1, Math.floor(room / Math.max(lanes.length, 1)));
  const most = Math.max(1, Math.floor(free / PART_OF_FREE));
  let left = room;
  return lanes.map(({ failures }) => {
    const share = Math.min(slotsOf(failures), even, most, left);
    left -= share;
    return share;
  });
}

export type Judgement = { health: Health; disable: string | undefined };

/** An endpoint's health after attempts that ended in this order, and why it is disabled, if it is. */
export function judge(before: Health, verdicts: readonly Verdict[], now: Date): Judgement {
  let health = before;
  for (const verdict of verdicts) {
    if (verdict === 'delivered') health = healthy;
    else if (verdict === 'failed' || verdict === 'gone') {
      health = { failures: health.failures + 1, failingSince: health.failingSince ?? now };
    }
  }
  if (verdicts.includes('gone')) return { health, disable: 'The endpoint answered 410 Gone.' };
  const since = health.failingSince;
  return since !== null && now.getTime() - since.getTime() >= DISABLE_AFTER_MS
    ? { health, disable: 'No delivery has succeeded for 5 days.' }
    : { health, disable: undefined };
}
