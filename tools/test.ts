import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED } from '@quittance/stack/compiled-code';
import {
  kindsWithoutBaseline,
  readRecoveryBaseline,
  recordRecoveries,
  slowRecoveries,
} from '../test/faults/recovery-baseline.ts';
import { drawnLine, faultsTable, readFaults } from '../test/faults/table.ts';
import { needless, notAllowed } from './allowed-skips.ts';
import { type Counts, closingLine, type Run } from './closing-line.ts';
import { exactly, type Most } from './runner/side-by-side.ts';
import { makeTestFolder } from './test-folder.ts';
import { recordTimings, slowestSuites } from './timings.ts';

/**
 * npm test [unit | integration | e2e | browser | chain-scenarios | faults …] [jest arguments]
 *
 * Runs the jest projects together and ends with one line, `N passed, N failed`, whatever happens:
 * a suite that could not run, a jest that crashed, hung or was interrupted is a failure too. No test at all is one as well.
 * Without a name it runs all but the faults, which are `npm run test:faults` and end with their table, and the containers,
 * which `npm run test:containers` starts an engine for.
 */
const usual = ['unit', 'integration', 'e2e', 'browser', 'chain-scenarios'] as const;
const projects = [...usual, 'faults', 'containers', 'medusa'] as const;
type Project = (typeof projects)[number];

/**
 * Most suites wait more than they compute, for blocks, brokers and pages: with one more than there are cores, half of the
 * cores' time was left over, and with two a core a quarter. Up to four a core took that quarter too, and saved a hundredth
 * of the time. All projects share them, so that none waits for the last suite of another; `tools/slowest-first.ts`
 * decides the order.
 */
const WORKERS = 2 * availableParallelism();
/** They share one engine, and scale what they run. */
const WORKERS_WITH_CONTAINERS = 1;
/**
 * For faults, of which each has a stack under load all the time and measures how soon it recovers: half as many more while
 * much of the cores' time is left (`tools/runner/side-by-side.ts`), which saves a quarter of theirs. And for all suites
 * when limits of time are those that are claimed: with more, two cores have not enough time for what four stacks do at
 * once.
 */
const WORKERS_IN_TIME = availableParallelism();
/** Twenty processes under load: beside another suite they have not the time that leases and recoveries are claimed for. */
const ALONE = 'test/faults/replicas-under-load.test.ts';
/** What is claimed in seconds is claimed of a machine that does nothing else, and shown so at full size. */
const PATIENCE = process.env['FAULTS'] === 'full' || process.env['PROOFS'] === 'full' ? 1 : 2;
/** Which of the faults run today, printed so that `FAULTS_SEED` runs the same ones again. */
const FAULTS_SEED = process.env['FAULTS_SEED'] ?? String(randomInt(2 ** 31));
const patience = Number(process.env['TEST_PATIENCE'] ?? PATIENCE); // eslint-disable-line no-restricted-syntax -- a factor
/** At the usual size; `PROOFS=full` and `FAULTS=full` run all that is claimed, and take as long as they take. */
const LIMIT_MS = 90 * 60_000;
const LIMIT_WITH_FAULTS_MS = 180 * 60_000;

/** How long jest may take to end after its last test: it stops the engines, and hangs on a forgotten timer. */
const EXIT_LIMIT_MS = 60_000;
const KILL_AFTER_MS = 5_000;

const root = join(import.meta.dirname, '..');
const scratch = makeTestFolder();
/** Where the fault suites write what they did. */
const faultsFile = join(scratch, 'faults.jsonl');
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
let running: ChildProcess | undefined;
let interrupted = false;

/** Whoever gives jest a number, or wants it in one process, gets that. */
const SAYS_HOW_MANY = /^(-w|--maxWorkers|-i|--runInBand)/;

/** @returns undefined when jest's arguments say it */
function workersFor(chosen: readonly Project[], jestArguments: readonly string[]): Most | undefined {
  if (jestArguments.some((argument) => SAYS_HOW_MANY.test(argument))) return undefined;
  if (chosen.includes('containers')) return exactly(WORKERS_WITH_CONTAINERS);
  const isMeasured = patience === 1 || PATIENCE === 1 || process.env['FAULTS_RECORD'] === '1';
  if (isMeasured) return exactly(WORKERS_IN_TIME);
  if (chosen.includes('faults')) {
    const more = Math.floor(WORKERS_IN_TIME / 2);
    return { always: WORKERS_IN_TIME, whenIdle: WORKERS_IN_TIME + more, left: 0.4 };
  }
  return exactly(WORKERS);
}

/** Where there is no browser, one is fetched while the first suites run: those that need it wait for it by themselves. */
function fetchBrowser(): void {
  spawn(process.execPath, [join(import.meta.dirname, 'setup/fetch-browser.mjs')], { stdio: 'inherit' });
}

/** `POSTGRES=15 npm test` runs the suites on that version, which is fetched at the first time. */
function postgresFolder(): string | undefined {
  const major = process.env['POSTGRES'];
  if (major === undefined) return undefined;
  const command = [join(import.meta.dirname, 'setup/fetch-postgres.mjs'), major];
  return execFileSync(process.execPath, command, { encoding: 'utf8' }).trim();
}

/** Jest leads a group of its own, so that what it started goes with it. */
function kill(child: ChildProcess) {
  const signal = (name: NodeJS.Signals) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, name);
  };
  signal('SIGTERM');
  setTimeout(signal, KILL_AFTER_MS, 'SIGKILL').unref();
}

/** What the reporter wrote last; undefined when jest found no test file or never came that far. */
function readRun(file: string): Run | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Run;
  } catch {
    return undefined;
  }
}

/** What jest is called with, one call after the other. */
const callsOf = (chosen: readonly Project[], jestArguments: readonly string[]): (readonly string[])[] =>
  chosen.includes('faults') && jestArguments.length === 0
    ? [[`--testPathIgnorePatterns=${ALONE}`], [ALONE]]
    : [jestArguments];

async function runJest(chosen: readonly Project[], jestArguments: readonly string[]) {
  const limitMs = chosen.includes('faults') ? LIMIT_WITH_FAULTS_MS : LIMIT_MS;
  const countsFile = join(mkdtempSync(join(scratch, 'run-')), 'counts.json');
  const postgres = postgresFolder();
  const workers = workersFor(chosen, jestArguments);
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      fileURLToPath(import.meta.resolve('jest/bin/jest')),
      '--selectProjects',
      ...chosen,
      ...(workers === undefined ? [] : [`--maxWorkers=${workers.always}`]),
      '--passWithNoTests',
      ...jestArguments,
    ],
    {
      cwd: root,
      // The shim that starts Node sets NODE_PATH, and jest would find packages through it that nobody declared.
      env: {
        TEST_PATIENCE: String(PATIENCE),
        // What one worker has compiled the others need not.
        NODE_COMPILE_CACHE: COMPILED,
        ...process.env,
        ...(postgres === undefined ? {} : { POSTGRES_NATIVE: postgres }),
        TMPDIR: scratch,
        COUNTS_FILE: countsFile,
        FAULTS_FILE: faultsFile,
        FAULTS_SEED,
        NODE_PATH: undefined,
        SIDE_BY_SIDE: workers === undefined ? undefined : JSON.stringify(workers),
      },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    },
  );
  running = child;

  let failure: string | undefined;
  const stop = (reason: string) => {
    failure ??= reason;
    kill(child);
  };
  const limit = setTimeout(() => stop(`did not finish within ${limitMs / 60_000} minutes`), limitMs);
  let completeSince: number | undefined;
  const watch = setInterval(() => {
    if (readRun(countsFile)?.complete !== true) return;
    completeSince ??= performance.now();
    if (performance.now() - completeSince > EXIT_LIMIT_MS) {
      stop(`did not exit within ${EXIT_LIMIT_MS / 1000} s after its last test: a test left something open`);
    }
  }, 1_000);

  const exit = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : `ended with ${code ?? signal}`));
  });
  clearTimeout(limit);
  clearInterval(watch);
  running = undefined;

  const run = readRun(countsFile);
  if (run !== undefined) {
    total.passed += run.passed;
    total.failed += run.failed;
    if (!isFiltered(jestArguments)) total.skipped += run.skipped;
  }
  if (run !== undefined && Object.keys(run.timings).length > 1) {
    process.stdout.write(`\nThe suites that took longest:\n${slowestSuites(run.timings)}`);
  }
  if (run !== undefined && !isFiltered(jestArguments)) reportSkips(run);
  if (run?.complete === true && process.env['RECORD_TIMINGS'] === '1') recordTimings(run.timings);
  if (run?.complete === false) failure ??= 'stopped in the middle of its tests';
  // A red test makes jest exit with 1; with nothing red to show for it, something else went wrong.
  if ((run?.failed ?? 0) === 0) failure ??= exit;
  if (interrupted) failure = 'was interrupted';
  if (failure === undefined) return;
  total.failed += 1;
  process.stdout.write(`jest ${failure}\n`);
}

/** Of a run by name all other tests are skipped, on purpose. */
const isFiltered = (jestArguments: readonly string[]): boolean =>
  jestArguments.some((argument) => /^(-t|--testNamePattern)/.test(argument));

/** Names each skipped test. With `ONLY_ALLOWED_SKIPS=1`, as in CI, one that is not listed as allowed is a failure. */
function reportSkips({ skips, timings }: Run): void {
  for (const { suite, test } of skips) process.stdout.write(`skipped: ${suite}: ${test}\n`);
  if (process.env['ONLY_ALLOWED_SKIPS'] !== '1') return;
  for (const { suite, test } of needless(skips, new Set(Object.keys(timings))))
    process.stdout.write(`listed in test/allowed-skips.json, and not skipped: ${suite}: ${test}\n`);
  for (const { suite, test } of notAllowed(skips)) {
    total.failed += 1;
    process.stdout.write(`not listed in test/allowed-skips.json: ${suite}: ${test}\n`);
  }
}

function parse(given: readonly string[]): { chosen: readonly Project[]; jestArguments: string[] } {
  const isProject = (text: string) => projects.some((name) => name === text);
  const first = given.findIndex((argument) => !isProject(argument));
  const named = given.slice(0, first === -1 ? given.length : first);
  return {
    chosen: named.length === 0 ? usual : projects.filter((name) => named.includes(name)),
    jestArguments: given.slice(named.length),
  };
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true;
    if (running !== undefined) kill(running);
  });
}

try {
  const { chosen, jestArguments } = parse(process.argv.slice(2));
  if (chosen.includes('browser')) fetchBrowser();
  if (chosen.includes('faults')) process.stdout.write(`faults drawn by FAULTS_SEED=${FAULTS_SEED}\n`);
  for (const call of callsOf(chosen, jestArguments)) if (!interrupted) await runJest(chosen, call);
  const { reports: faults, draws } = readFaults(faultsFile);
  process.stdout.write(faultsTable(faults) + drawnLine(draws));
  if (process.env['FAULTS_RECORD'] === '1') recordRecoveries(faults);
  else {
    const baseline = readRecoveryBaseline();
    for (const kind of kindsWithoutBaseline(faults, baseline))
      process.stdout.write(`${kind}: has no baseline, its recovery is not compared\n`);
    for (const slow of slowRecoveries(faults, baseline, patience)) {
      total.failed += 1;
      process.stdout.write(`${slow}\n`);
    }
  }
} catch (error) {
  total.failed += 1;
  process.stdout.write(`the tests could not be run: ${String(error)}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (total.passed + total.failed === 0) process.stdout.write('no test ran\n');
// What was killed may have stopped in the middle of a line.
process.stdout.write(`\n${closingLine(total)}\n`);
process.exitCode = total.failed === 0 && total.passed > 0 && !interrupted ? 0 : 1;
