import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { SerializableError, Test, TestResult } from '@jest/test-result';
import { Worker } from 'jest-worker';
import { exactly, type Most, sideBySide } from './side-by-side.ts';
import type { SuiteToRun } from './suite.ts';

/**
 * A jest runner whose workers load suites as Node itself does and keep the modules: each is loaded once a worker. Jest's
 * own runner loads every module once more for every suite, which was 1.1 to 1.6 s of CPU for each of 170 suites. What a suite
 * changes for others is put right after it, see `suite.ts`. (`jest-light-runner` does the same and knows no time limits.)
 */
export default class Runner {
  /** Jest's way to be told of results here: by the functions that it gives to `runTests`. */
  readonly supportsEventEmitters = false;
  readonly #config: SuiteToRun['globalConfig'] & { maxWorkers: number };

  constructor(config: SuiteToRun['globalConfig'] & { maxWorkers: number }) {
    this.#config = config;
  }

  /** Jest calls it once with the suites of all projects that name this runner, in the order of its sequencer. */
  async runTests(
    tests: readonly Test[],
    watcher: { isInterrupted(): boolean },
    onStart: (test: Test) => Promise<void>,
    onResult: (test: Test, result: TestResult) => Promise<void>,
    onFailure: (test: Test, error: SerializableError) => Promise<void>,
  ): Promise<void> {
    const { maxWorkers, testTimeout, testNamePattern } = this.#config;
    const asked = process.env['SIDE_BY_SIDE'];
    const most: Most =
      asked === undefined ? exactly(maxWorkers || availableParallelism()) : JSON.parse(asked);
    const workers = new Worker(fileURLToPath(new URL('suite.ts', import.meta.url)), {
      exposedMethods: ['runSuite'],
      numWorkers: Math.max(1, Math.min(most.whenIdle, tests.length)),
      // The first free one: the others do not load the modules of suites.
      workerSchedulingPolicy: 'in-order',
      // A suite that ends its process has failed.
      maxRetries: 0,
      forkOptions: { stdio: 'inherit' },
    }) as Worker & { runSuite(suite: SuiteToRun): Promise<TestResult> };
    const runOne = async (test: Test): Promise<void> => {
      if (watcher.isInterrupted()) return;
      const { rootDir, testMatch, displayName } = test.context.config;
      await onStart(test);
      try {
        const result = await workers.runSuite({
          path: test.path,
          project: { rootDir, testMatch },
          globalConfig: { testTimeout, testNamePattern },
        });
        await onResult(test, { ...result, ...(displayName === undefined ? {} : { displayName }) });
      } catch (error) {
        await onFailure(test, error as SerializableError);
      }
    };
    try {
      await sideBySide(tests, most, runOne);
    } finally {
      await workers.end();
    }
  }
}
