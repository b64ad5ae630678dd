export const schedules = ['daily', 'threshold'] as const;
/** `daily`: once a day, after midnight UTC. `threshold`: whenever the balance covers the threshold and the network fee. */
export type Schedule = (typeof schedules)[number];

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
