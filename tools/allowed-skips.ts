import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Skip } from './closing-line.ts';

/** Each was looked at: why the test cannot be tried, and where its behaviour is shown instead, if anywhere. */
const schema = z.array(z.strictObject({ suite: z.string(), test: z.string(), because: z.string().min(1) }));

const FILE = new URL('../test/allowed-skips.json', import.meta.url);

const listed = () => schema.parse(JSON.parse(readFileSync(FILE, 'utf8')));

/** Those of `some` that `others` lack. */
const without = (some: readonly Skip[], others: readonly Skip[]): Skip[] =>
  some.filter((one) => !others.some(({ suite, test }) => suite === one.suite && test === one.test));

/** Listed tests of suites that ran, which were not skipped: their entries can go. */
export const needless = (skips: readonly Skip[], suites: ReadonlySet<string>): Skip[] =>
  without(listed(), skips).filter(({ suite }) => suites.has(suite));

/** The skipped tests that `test/allowed-skips.json` does not list. */
export const notAllowed = (skips: readonly Skip[]): Skip[] => without(skips, listed());
