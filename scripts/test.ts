import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Counts, closingLine, type Run } from '../test/closing-line.ts';

/**
 * npm test [unit | integration | e2e | proofs …] [jest arguments]
 *
 * Runs the jest projects one after the other and ends with one line, `N passed, N failed`, whatever happens:
 * a suite that could not run, a jest that crashed, hung or was interrupted is a failure too. No test at all is one as well.
 */
const projects = {
  unit: { workers: 2, limitMs: 10 * 60_000 },
  // Most of them wait for processes, blocks and clocks: more at once than there are cores to keep busy.
  integration: { workers: 3, limitMs: 30 * 60_000 },
  // Every end-to-end suite starts a whole stack of processes; two at once only make each other late.
  e2e: { workers: 1, limitMs: 60 * 60_000 },
  // Small by default; `PROOFS=full` makes them as large as they are meant to be believed.
  proofs: { workers: 2, limitMs: 60 * 60_000 },
} satisfies Record<string, { workers: number; limitMs: number }>;
type Project = keyof typeof projects;

/** How long jest may take to end after its last test: it stops the engines, and hangs on a forgotten timer. */
const EXIT_LIMIT_MS = 60_000;
const KILL_AFTER_MS = 5_000;

const root = join(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'quittance-test-'));
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
let running: ChildProcess | undefined;
let interrupted = false;

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

async function runProject(name: Project, jestArguments: readonly string[]) {
  const { workers, limitMs } = projects[name];
  const countsFile = join(scratch, `${name}.json`);
  const child = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      fileURLToPath(import.meta.resolve('jest/bin/jest')),
      `--selectProjects=${name}`,
      `--maxWorkers=${workers}`,
      '--passWithNoTests',
      ...jestArguments,
    ],
    {
      cwd: root,
      // The shim that starts Node sets NODE_PATH, and jest would find packages through it that nobody declared.
      env: { ...process.env, COUNTS_FILE: countsFile, NODE_PATH: undefined },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    },
  );
  running = child;

  let trouble: string | undefined;
  const stop = (reason: string) => {
    trouble ??= reason;
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
  total.passed += run?.passed ?? 0;
  total.failed += run?.failed ?? 0;
  total.skipped += run?.skipped ?? 0;
  if (run?.complete === false) trouble ??= 'stopped in the middle of its tests';
  // A red test makes jest exit with 1; with nothing red to show for it, something else went wrong.
  if ((run?.failed ?? 0) === 0) trouble ??= exit;
  if (interrupted) trouble = 'was interrupted';
  if (trouble === undefined) return;
  total.failed += 1;
  process.stdout.write(`${name}: jest ${trouble}\n`);
}

function parse(given: readonly string[]): { chosen: Project[]; jestArguments: string[] } {
  const isProject = (text: string): text is Project => Object.hasOwn(projects, text);
  const first = given.findIndex((argument) => !isProject(argument));
  const named = given.slice(0, first === -1 ? given.length : first).filter(isProject);
  const all = Object.keys(projects) as Project[];
  return {
    chosen: named.length === 0 ? all : all.filter((name) => named.includes(name)),
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
  for (const name of chosen) if (!interrupted) await runProject(name, jestArguments);
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
