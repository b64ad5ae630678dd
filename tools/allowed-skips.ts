import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Skip } from './closing-line.ts';

/** Each was looked at: why the test cannot be tried, and where its behaviour is shown instead, if anywhere. */
const schema = z.array(z.strictObject({ suite: z.string(), test: z.string(), because: z.string().min(1) }));

const FILE = new URL('../test/allowed-skips.json', import.meta.url);

const listed = () => schema.parse(JSON.parse(readFileSync(FILE, 'utf8')));

/** Listed tests of suites that ran, which were not skipped: their entries can go. */
export function needless(skips: readonly Skip[], suites: ReadonlySet<string>): Skip[] {
  const isSkipped = (one: Skip) => skips.some(({ suite, test }) => suite === one.suite && test === one.test);
  return listed().filter((one) => suites.has(one.suite) && !isSkipped(one));
}

/** The skipped tests that `test/allowed-skips.json` does not list. */
export function notAllowed(skips: readonly Skip[]): Skip[] {
  const allowed = listed();
  return skips.filter(({ suite, test }) => !allowed.some((one) => one.suite === suite && one.test === test));
}
