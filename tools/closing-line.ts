import { writeFileSync } from 'node:fs';

export type Counts = { passed: number; failed: number; skipped: number };

/** `complete` is false from the first test file until jest has run the last: what stays false has crashed. */
export type Run = Counts & { complete: boolean };

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

/**
 * A jest reporter. `npm test` runs jest several times and adds up, so it asks by COUNTS_FILE to have the counts
 * written there after each test file. Jest called by hand gets the closing line itself.
 */
export default class ClosingLine {
  onRunStart(results: Results) {
    this.#report(results, false);
  }

  onTestResult(_test: unknown, _result: unknown, results: Results) {
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
    };
    const file = process.env['COUNTS_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(run));
    else if (complete) process.stdout.write(`${closingLine(run)}\n`);
  }
}
