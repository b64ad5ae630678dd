import { type ChildProcess, fork } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { pathToFileURL } from 'node:url';
import { resetState, run } from 'jest-circus';
import { closingLine } from './closing-line.ts';
import { compareWithList, inWords, type Listed, mutantsOf } from './mutants.ts';
import { root, textOf } from './tracked-files.ts';

/**
 * npm run test:mutation [words of paths]
 *
 * Changes the pure decisions of the services in one place at a time, runs their pure tests, and names each change that no
 * test notices and that `test/mutation-survivors.json` does not list with a reason: these fail the run. Listed ones that
 * are noticed now, or whose code is gone, are named too, and fail nothing. A child process runs the tests without jest's
 * own runner, so that a mutant takes milliseconds; a mutant that loops is ended with its process.
 */
const JEST_GLOBALS = new URL('runner/globals.ts', import.meta.url).href;
const LIST = 'test/mutation-survivors.json';
const LIMIT_MS = 20_000;
/** Modules that were loaded once are never unloaded. */
const TASKS_PER_CHILD = 250;

type Task = { id: number; tests: readonly string[]; mutated?: { path: string; source: string } };
/** `touched`: the modules of services that were loaded. */
type Outcome = { failed: string | undefined; touched: string[] };

if (process.send === undefined) await mutateAll(process.argv.slice(2));
else serve();

async function mutateAll(words: readonly string[]): Promise<void> {
  let child: ChildProcess | undefined;
  let tasks = 0;
  const run = async (task: Omit<Task, 'id'>): Promise<Outcome> => {
    if (tasks % TASKS_PER_CHILD === 0) child?.kill();
    if (child === undefined || child.killed) child = fork(import.meta.filename, { cwd: root });
    const current = child;
    return new Promise((resolve) => {
      const end = (outcome: Outcome) => {
        clearTimeout(timer);
        current.removeAllListeners();
        resolve(outcome);
      };
      const stop = (failed: string) => {
        current.kill('SIGKILL');
        end({ failed, touched: [] });
      };
      const timer = setTimeout(() => stop('time limit'), LIMIT_MS);
      current.once('message', end).once('exit', () => stop('exit'));
      tasks += 1;
      current.send({ ...task, id: tasks } satisfies Task);
    });
  };

  const covers = new Map<string, string[]>();
  for (const test of globSync('services/*/src/**/*.test.ts', { cwd: root })) {
    const { failed, touched } = await run({ tests: [test] });
    if (failed !== undefined) process.stderr.write(`left out: ${test} (${failed})\n`);
    else for (const path of touched) covers.set(path, [...(covers.get(path) ?? []), test]);
  }
  const listed = JSON.parse(textOf(LIST)) as Listed[];
  const isChosen = (path: string) => !path.endsWith('.test.ts') && words.every((word) => path.includes(word));
  const sources = globSync('services/*/src/domain/**/*.ts', { cwd: root });
  const survivors = new Map<string, string[]>();
  let all = 0;
  for (const path of sources.filter(isChosen).sort()) {
    const text = textOf(path);
    // The test beside the file notices most mutants.
    const first = (test: string) => (test === path.replace('.ts', '.test.ts') ? 0 : 1);
    const tests = (covers.get(path) ?? []).sort((a, b) => first(a) - first(b));
    for (const mutant of mutantsOf(path, text)) {
      const source = text.slice(0, mutant.start) + mutant.to + text.slice(mutant.end);
      const { failed } = await run({ tests, mutated: { path, source } });
      all += 1;
      if (failed !== undefined) continue;
      const described = inWords(text, mutant);
      survivors.set(path, [...(survivors.get(path) ?? []), described]);
      if (!listed.some((group) => group.survivors[path]?.includes(described)))
        process.stdout.write(`${path}:${mutant.line}  ${described}\n`);
    }
  }
  child?.kill();

  const ofList = listed.flatMap((group) => Object.keys(group.survivors)).filter(isChosen);
  const { unlisted, noLonger } = compareWithList(survivors, listed, ofList);
  const count = [...survivors.values()].flat().length;
  process.stdout.write(`${all} mutants, ${count} not noticed, ${unlisted.length} of them not in ${LIST}\n`);
  for (const one of unlisted) process.stdout.write(`not listed: ${one}\n`);
  for (const one of noLonger) process.stdout.write(`listed, and does not survive: ${one}\n`);
  process.stdout.write(
    `${closingLine({ passed: all - unlisted.length, failed: unlisted.length, skipped: 0 })}\n`,
  );
  process.exitCode = unlisted.length === 0 ? 0 : 1;
}

/** Runs test files, in modules of their own for each task. */
function serve(): void {
  let task: Task = { id: 0, tests: [] };
  const touched = new Set<string>();
  const top = `${pathToFileURL(root).href}/`;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === '@jest/globals') return { url: JEST_GLOBALS, shortCircuit: true };
      const found = next(specifier, context);
      const isOurs = found.url.startsWith(`${top}services/`) && !found.url.includes('?');
      return isOurs ? { ...found, url: `${found.url}?${task.id}` } : found;
    },
    load(url, context, next) {
      const [path = '', id] = url.split('?');
      if (id === undefined || !path.startsWith(top)) return next(url, context);
      const name = path.slice(top.length);
      touched.add(name);
      const text = task.mutated?.path === name ? task.mutated.source : readFileSync(new URL(path), 'utf8');
      return { format: 'module', source: stripTypeScriptTypes(text), shortCircuit: true };
    },
  });
  const runTask = async (given: Task) => {
    task = given;
    touched.clear();
    let failed: string | undefined;
    try {
      for (const test of task.tests) {
        resetState();
        await import(`${top}${test}?${task.id}`);
        const { testResults, unhandledErrors } = await run();
        const [error] = [...unhandledErrors, ...testResults.flatMap(({ errors }) => errors)];
        if (error === undefined) continue;
        failed = error.slice(0, 200);
        break;
      }
    } catch (error) {
      failed = String(error).slice(0, 200);
    }
    process.send?.({ failed, touched: [...touched] } satisfies Outcome);
  };
  process.on('message', (given: Task) => void runTask(given));
}
