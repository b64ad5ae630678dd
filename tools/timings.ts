import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** How long each suite took, in seconds, by its path in the checkout; those of less than a second are left out. */
export type Timings = Record<string, number>;

const FILE = new URL('../test/timings.json', import.meta.url);
const RECORDED_FROM_S = 1;
const SHOWN = 10;

export function readTimings(): Timings {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Timings;
}

/**
 * `RECORD_TIMINGS=1 npm test` writes those of the suites that ran, and leaves those of others as they were; commit the file
 * when the order of suites is no longer right.
 */
export function recordTimings(timings: Timings): void {
  const slow = Object.entries({ ...readTimings(), ...timings }).filter(
    ([path, seconds]) => seconds >= RECORDED_FROM_S && existsSync(new URL(`../${path}`, import.meta.url)),
  );
  slow.sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(slow), null, 2)}\n`);
}

/** The suites that took longest, a line each. */
export function slowestSuites(timings: Timings): string {
  const slowest = Object.entries(timings)
    .sort(([, one], [, other]) => other - one)
    .slice(0, SHOWN);
  return slowest.map(([path, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${path}\n`).join('');
}
