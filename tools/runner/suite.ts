import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { jestExpect } from '@jest/expect';
import { type AssertionResult, createEmptyTestResult, type TestResult } from '@jest/test-result';
import type { Circus } from '@jest/types';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { restoreGlobals } from './globals.ts';

export type SuiteToRun = {
  /** Of the suite's file. */
  path: string;
  /** Of jest's configuration of the suite's project: what error messages leave out. */
  project: { rootDir: string; testMatch: string[] };
  globalConfig: { testTimeout?: number | undefined; testNamePattern?: string | undefined };
};

const GLOBALS = new URL('globals.ts', import.meta.url).href;
registerHooks({
  // The package itself throws wherever jest's own runner has not put something else in its place.
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: GLOBALS, shortCircuit: true } : next(specifier, context),
});
process.on('uncaughtException', (error) => running().errors.push(error));
process.on('unhandledRejection', (error, promise) => unhandled.set(promise, { error, of: running() }));
// Handled late is handled, as long as the test lasts.
process.on('rejectionHandled', (promise) => unhandled.delete(promise));
addEventHandler(async (event) => {
  if (event.name === 'test_start') {
    jestExpect.setState({ currentTestName: nameOf(event.test), suppressedErrors: [] });
  } else if (event.name === 'test_done') {
    await takeUnhandled();
    const { suppressedErrors } = jestExpect.getState();
    const missing = jestExpect.extractExpectedAssertionsErrors().map(({ error }) => error);
    event.test.errors.push(...suppressedErrors, ...missing);
  }
});

/** What runs now: a test, or the suite beside its tests. Its errors are another array when a test has ended. */
type Running = { readonly errors: unknown[] };
const unhandled = new Map<Promise<unknown>, { error: unknown; of: Running }>();
const running = (): Running => getState().currentlyRunningTest ?? { errors: getState().unhandledErrors };

/** The real one, whatever a suite has made of its clock. */
const afterTurn = promisify(setImmediate);

/** Rejections are told of at the end of a turn of the event loop. */
async function takeUnhandled(): Promise<void> {
  await afterTurn();
  for (const { error, of } of unhandled.values()) of.errors.push(error);
  unhandled.clear();
}

function nameOf(test: Circus.TestEntry): string {
  const names = [test.name];
  for (let block: Circus.DescribeBlock | undefined = test.parent; block?.parent; block = block.parent)
    names.unshift(block.name);
  return names.join(' ');
}

/**
 * Runs the tests of one file. What it leaves to the process (settings, mocks, fake timers) is put right afterwards.
 * @throws what the file throws when it is loaded
 */
export async function runSuite({ path, project, globalConfig }: SuiteToRun): Promise<TestResult> {
  const { testTimeout, testNamePattern } = globalConfig;
  const environment = { ...process.env };
  resetState();
  const state = getState();
  if (testTimeout !== undefined) state.testTimeout = testTimeout;
  if (testNamePattern) state.testNamePattern = new RegExp(testNamePattern, 'i');
  jestExpect.setState({ testPath: path });
  const start = Date.now();
  let ended: Circus.RunResult;
  try {
    await import(pathToFileURL(path).href);
    ended = await run();
    await takeUnhandled();
  } finally {
    restoreGlobals();
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
  }
  return inJestsWords(path, project, { ended, start });
}

type Ended = { ended: Circus.RunResult; start: number };

function inJestsWords(path: string, project: SuiteToRun['project'], { ended, start }: Ended): TestResult {
  const testResults = ended.testResults.map((result) => {
    // The first is the name of the file's own block.
    const [, ...names] = result.testPath;
    const { duration, errors, errorsDetailed, invocations, location, numPassingAsserts } = result;
    return {
      ancestorTitles: names.slice(0, -1),
      title: names.at(-1) ?? '',
      fullName: names.join(' '),
      status: statusOf(result),
      duration: duration ?? null,
      failureDetails: errorsDetailed,
      failureMessages: [...errors],
      invocations,
      location: location ?? null,
      numPassingAsserts,
      retryReasons: [],
    };
  });
  const options = { noStackTrace: false };
  const ofTests = formatResultsErrors(testResults, project, options, path) ?? '';
  const ofSuite = ended.unhandledErrorsDetailed.map((error) =>
    formatExecError(error, project, options, path),
  );
  const numberOf = (status: string) => testResults.filter((result) => result.status === status).length;
  const result = createEmptyTestResult();
  return {
    ...result,
    numFailingTests: numberOf('failed'),
    numPassingTests: numberOf('passed'),
    numPendingTests: numberOf('pending'),
    numTodoTests: numberOf('todo'),
    perfStats: { ...result.perfStats, start, end: Date.now(), runtime: Date.now() - start },
    testFilePath: path,
    testResults,
    ...(ofTests === '' && ofSuite.length === 0 ? {} : { failureMessage: [ofTests, ...ofSuite].join('\n\n') }),
    ...(ofSuite.length === 0
      ? {}
      : { testExecError: { message: '', stack: ended.unhandledErrors.join('\n') } }),
  };
}

function statusOf({ status, errors }: Circus.TestResult): AssertionResult['status'] {
  if (errors.length > 0) return 'failed';
  return status === 'done' ? 'passed' : status === 'todo' ? 'todo' : 'pending';
}
