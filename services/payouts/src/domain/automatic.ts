export const schedules = ['daily', 'threshold'] as const;
/** `daily`: once a day, after midnight UTC. `threshold`: whenever the balance covers the threshold and the network fee. */
export type Schedule = (typeof schedules)[number];

/** Why the last run paid nothing although there was enough, or null. A code of the API's errors. */
export type RunError = 'unavailable' | 'insufficient_balance' | 'invalid_request';

/**
 * The failure that a merchant has been told of after a run. It hears of a cause once, until a run has no error. What is away
 * for a while it cannot act upon, so that it is neither told of nor an end of what was told.
 */
export const toldAfter = (error: RunError | null, toldBefore: RunError | null): RunError | null =>
  error === 'unavailable' ? toldBefore : error;

/** How often the balance of a rule with a threshold is read. */
const THRESHOLD_EVERY_MS = 5 * 60_000;
/** When a run is repeated that could not be carried out. Also when its process died. */
export const RETRY_AFTER_MS = 10 * 60_000;

const DAY_MS = 24 * 60 * 60_000;

/** When a rule runs next after it ran, or could have run, at that time. */
export const nextRun = (schedule: Schedule, after: Date): Date => {
  const ms = after.getTime();
  return new Date(schedule === 'daily' ? ms - (ms % DAY_MS) + DAY_MS : ms + THRESHOLD_EVERY_MS);
};
