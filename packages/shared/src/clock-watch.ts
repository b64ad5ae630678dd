import type { Clock } from './clock.ts';
import { type Db, statement } from './db.ts';
import { isDatabaseDown } from './db-errors.ts';
import { type Logger, throttledLog } from './logger.ts';
import { startWorker, type Worker } from './worker.ts';

/** What an installation stands without harm: a request of a merchant is old after seconds, and leases last by the database's clock. */
export const CLOCKS_APART_MAX_MS = 2_000;
const ASKED_EVERY_MS = 60_000;
const SECOND_MS = 1_000;

/** A clock somewhere else: what it said, and between which times of our own. */
export type ClockReading = { time: Date; before: Date; after: Date };

/** By how much our clock is ahead of it, in ms; negative: behind. It looked at its clock at some time of the question. */
export function aheadMs({ time, before, after }: ClockReading): number {
  const ahead = before.getTime() - time.getTime();
  const behind = time.getTime() - after.getTime();
  return behind > 0 ? -behind : Math.max(ahead, 0);
}

const databaseTime = statement('clock_of_database', 'select clock_timestamp() as time');

/** Asks the database for its time, now and then. */
async function readDatabaseClock(db: Db, clock: Clock): Promise<ClockReading> {
  const before = clock.now();
  const { time } = await db.one<{ time: Date }>(databaseTime);
  return { time, before, after: clock.now() };
}

/** Compares this machine's clock with the database's every minute, and logs when they are apart. */
export function watchClock(
  { db, clock, logger }: { db: Db; clock: Clock; logger: Logger },
  everyMs = ASKED_EVERY_MS,
): Pick<Worker, 'stop'> {
  const throttled = throttledLog(logger);
  return startWorker({
    name: 'clock',
    everyMs,
    logger,
    async step() {
      try {
        const ahead = aheadMs(await readDatabaseClock(db, clock));
        tell(ahead / SECOND_MS);
      } catch (error) {
        // A database that is away is told elsewhere.
        if (!isDatabaseDown(error)) throw error;
      }
      return 0;
    },
  });

  function tell(seconds: number): void {
    const apart = Math.abs(seconds);
    if (apart * SECOND_MS <= CLOCKS_APART_MAX_MS) {
      throttled.ended('clock', {}, 'the clock of this machine is as the database’s again');
      return;
    }
    const where = seconds > 0 ? 'ahead of' : 'behind';
    const message = `the clock of this machine is ${apart.toFixed(1)} s ${where} the database’s: set both by NTP`;
    throttled.log('error', 'clock', { seconds_ahead: seconds }, message);
  }
}
