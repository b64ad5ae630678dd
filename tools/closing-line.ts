import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Timings } from './timings.ts';

export type Counts = { passed: number; failed: number; skipped: number };

/** `complete` is false from the first test file until jest has run the last: what stays false has crashed. */
export type Run = Counts & { complete: boolean; timings: Timings };

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

type SuiteResult = { perfStats: { runtime: number } };

const root = join(import.meta.dirname, '..');

/**
 * A jest reporter. `npm test` reads the counts and times from COUNTS_FILE, written after each suite, because jest may crash.
 * Jest called by hand gets the closing line itself.
 */
export default class ClosingLine {
  readonly #timings: Timings = {};

  onRunStart(results: Results) {
    this.#report(results, false);
  }

  onTestResult({ path }: { path: string }, { perfStats }: SuiteResult, results: Results) {
    this.#timings[relative(root, path)] = Math.round(perfStats.runtime / 100) / 10;
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
    };
    const file = process.env['COUNTS_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(run));
    else if (complete) process.stdout.write(`${closingLine(run)}\n`);
  }
}
