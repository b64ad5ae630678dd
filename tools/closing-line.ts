import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Timings } from './timings.ts';

export type Counts = { passed: number; failed: number; skipped: number };

/** A test that was not run, by its suite's path in the checkout and its full name. */
export type Skip = { suite: string; test: string };

/** `complete` is false from the first test file until jest has run the last: what stays false has crashed. */
export type Run = Counts & { complete: boolean; timings: Timings; skips: Skip[] };

export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** What jest's aggregated result holds of use here. */
type Results = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numRuntimeErrorTestSuites: number;
};

type SuiteResult = {
  perfStats: { runtime: number };
  testResults: { fullName: string; status: string }[];
};
const NOT_RUN = ['pending', 'todo', 'disabled', 'skipped'];

const root = join(import.meta.dirname, '..');

/**
 * A jest reporter. `npm test` reads the counts and times from COUNTS_FILE, written after each suite, because jest may crash.
 * Jest called by hand gets the closing line itself.
 */
export default class ClosingLine {
  readonly #timings: Timings = {};
  readonly #skips: Skip[] = [];

  onRunStart(results: Results) {
    this.#report(results, false);
  }

  onTestResult({ path }: { path: string }, { perfStats, testResults }: SuiteResult, results: Results) {
    const suite = relative(root, path);
    this.#timings[suite] = Math.round(perfStats.runtime / 100) / 10;
    const skipped = testResults.filter(({ status }) => NOT_RUN.includes(status));
    this.#skips.push(...skipped.map(({ fullName }) => ({ suite, test: fullName })));
    this.#report(results, false);
  }

  onRunComplete(_contexts: unknown, results: Results) {
    this.#report(results, true);
  }

  #report(results: Results, complete: boolean) {
    const run: Run = {
      passed: results.numPassedTests,
      // A suite that could not be run has no tests to count, and is a failure all the same.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      complete,
      timings: this.#timings,
      skips: this.#skips,
    };
    const file = process.env['COUNTS_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(run));
    else if (complete) process.stdout.write(`${closingLine(run)}\n`);
  }
}
