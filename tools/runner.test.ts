import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestResult } from '@jest/test-result';

/** The runner of all suites: a suite with what can go wrong in one, run in a process of its own. */

const SUITE = `
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
test('passes', () => expect(1).toBe(1));
test('compares', () => expect({ a: 1 }).toEqual({ a: 2 }));
test('lasts too long', () => new Promise(() => undefined), 50);
test('rejects unheard', async () => { void Promise.reject(new Error('lost')); await later(10); });
test('rejects and is heard late', async () => { const one = Promise.reject(new Error()); await later(10); await one.catch(() => undefined); });
test('throws in a timer', async () => { setTimeout(() => { throw new Error('thrown'); }, 1); await later(10); });
test('asserts nothing', () => expect.assertions(1));
test.skip('is skipped', () => undefined);
describe('a hook', () => { beforeAll(() => { throw new Error('hook'); }); test('that throws fails its tests', () => undefined); });
test('changes what others meet', () => {
  jest.spyOn(globalThis, 'fetch').mockReturnValue(undefined);
  jest.useFakeTimers();
  process.env.RUNNER_TEST = '1';
});
`;
const AT_ITS_END = `
import { afterAll, test } from '@jest/globals';
test('passes', () => undefined);
afterAll(() => { throw new Error('at its end'); });
`;
const AFTERWARDS = `
import { expect, test } from '@jest/globals';
test('meets nothing of the suite before', () => {
  expect('_isMockFunction' in fetch).toBe(false);
  expect('clock' in setTimeout).toBe(false);
  expect(process.env.RUNNER_TEST).toBeUndefined();
});
`;

let results: TestResult[];
const folder = mkdtempSync(join(tmpdir(), 'quittance-runner-'));
beforeAll(() => {
  const suites = { SUITE, AT_ITS_END, AFTERWARDS };
  const paths = Object.entries(suites).map(([name, source]) => {
    const path = join(folder, `${name}.mjs`);
    writeFileSync(path, source);
    return path;
  });
  const script = `
    const { runSuite } = await import(${JSON.stringify(join(import.meta.dirname, 'runner/suite.ts'))});
    const results = [];
    for (const path of ${JSON.stringify(paths)})
      results.push(await runSuite({ path, project: { rootDir: '/', testMatch: [] }, globalConfig: { testTimeout: 1000 } }));
    process.stdout.write(JSON.stringify(results));
    process.exit();`;
  const node = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
  results = JSON.parse(execFileSync(process.execPath, node, { encoding: 'utf8' })) as TestResult[];
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a suite fails for what its tests, their timers and their hooks throw, and for what they never hear of', () => {
  const states = results[0]?.testResults.map(({ fullName, status }) => `${status}: ${fullName}`);
  expect(states).toEqual([
    'passed: passes',
    'failed: compares',
    'failed: lasts too long',
    'failed: rejects unheard',
    'passed: rejects and is heard late',
    'failed: throws in a timer',
    'failed: asserts nothing',
    'pending: is skipped',
    'failed: a hook that throws fails its tests',
    'passed: changes what others meet',
  ]);
  expect(results[0]).toMatchObject({ numPassingTests: 3, numFailingTests: 6, numPendingTests: 1 });
  expect(results[0]?.failureMessage).toMatch(/compares.*Expected.*lost.*thrown/s);
});

test('a suite whose last hook throws has failed, though all its tests have passed', () => {
  expect(results[1]).toMatchObject({ numPassingTests: 1, numFailingTests: 0 });
  expect(results[1]?.testExecError?.stack).toMatch('at its end');
});

test('a suite meets no mocks, fake timers and settings of the suite before it in the same process', () =>
  expect(results[2]).toMatchObject({ numPassingTests: 1, numFailingTests: 0 }));
