import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { type Counts, closingLine } from './closing-line.ts';
import { type Part, partsOf, type RecordLine } from './nightly-parts.ts';
import { root, trackedFiles } from './tracked-files.ts';

/**
 * npm run test:nightly -- [--only NAME] [--list] [--failed] [--any-commit]
 *
 * Runs everything at full size, part by part, and ends with a table of all parts and `N passed, N failed`. `.nightly`
 * holds a record and the output of each part, by commit: a part that passed is not run again, a part that was stopped
 * is. `--failed` runs failed parts again, `--only` runs the parts whose name begins so, and `--list` runs nothing.
 * `test/nightly.jsonl` holds a line for each part that has ended, on any commit; committed, it is there in every checkout.
 * `--any-commit` continues that and the newest record in `.nightly`, and the table names the other commits that it is of.
 * The exit code is 0 only when all chosen parts have passed.
 */
const FOLDER = join(root, '.nightly');
const ENDED = join(root, 'test/nightly.jsonl');
/** What a part is given to stop its processes before it is killed. */
const STOP_LIMIT_MS = 60_000;
/** Sizes and limits of time are those that are claimed, and a skipped test must be listed as allowed. */
const FULL = { FAULTS: 'full', PROOFS: 'full', TEST_PATIENCE: '1', ONLY_ALLOWED_SKIPS: '1' };

export type State = 'not run' | 'stopped' | 'passed' | 'failed';

const lastOf = (lines: readonly RecordLine[], { name }: Part): RecordLine | undefined =>
  lines.findLast(({ part }) => part === name);

export function stateOf(lines: readonly RecordLine[], part: Part): State {
  const last = lastOf(lines, part);
  if (last === undefined) return 'not run';
  if (last.isGreen === undefined) return 'stopped';
  return last.isGreen ? 'passed' : 'failed';
}

/** The parts that are to be run now, in order. A failed part begins with the same seeds again. */
export function dueParts(
  parts: readonly Part[],
  lines: readonly RecordLine[],
  { failed = false }: { failed?: boolean | undefined } = {},
): Part[] {
  return parts
    .filter((part) => ['not run', 'stopped', ...(failed ? ['failed'] : [])].includes(stateOf(lines, part)))
    .map((part) => ({ ...part, args: lastOf(lines, part)?.args ?? part.args }));
}

export function readLines(text: string): RecordLine[] {
  // What was written last may be cut: its part is run again.
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as RecordLine];
    } catch {
      return [];
    }
  });
}

/** The record and the lines of parts that have ended, the older ones first; of this commit alone unless `anyCommit`. */
export function together(
  ended: readonly RecordLine[],
  record: readonly RecordLine[],
  commit: string,
  anyCommit: boolean,
): RecordLine[] {
  return [...ended, ...record]
    .filter((line) => anyCommit || line.commit === commit)
    .sort((a, b) => Date.parse(a.began) - Date.parse(b.began));
}

/** What the last line of a part's output says. Without one the part has failed. */
export function countsOf(output: string): Counts {
  const found = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/m.exec(
    output.trimEnd().split('\n').at(-1) ?? '',
  );
  // eslint-disable-next-line no-restricted-syntax -- how many tests
  const [passed = 0, failed = 1, skipped = 0] = (found ?? []).slice(1).map((count) => Number(count ?? 0));
  return { passed, failed, skipped };
}

/** Without a Docker engine, containers skip all and pass nothing. A skip that is not listed as allowed is a failure. */
export const isGreen = ({ passed, failed }: Counts, code: number | null): boolean =>
  code === 0 && passed > 0 && failed === 0;

const sum = (lines: readonly RecordLine[], what: keyof Counts): number =>
  lines.reduce((total, line) => total + (line[what] ?? 0), 0);

export function table(parts: readonly Part[], lines: readonly RecordLine[], commit: string): string {
  const row = (...cells: readonly (string | number)[]) => {
    const [name = '', state = '', ...more] = cells.map(String);
    return `${name.padEnd(44)} ${state.padEnd(8)} ${more.map((cell) => cell.padStart(8)).join('')}`;
  };
  const lasts = parts.flatMap((part) => lastOf(lines, part) ?? []);
  const rows = parts.map((part) => {
    const last = lastOf(lines, part);
    const { passed = '', failed = '', skipped = '', seconds } = last ?? {};
    const minutes = seconds === undefined ? '' : (seconds / 60).toFixed(1);
    const from = (last?.args ?? part.args).join(' ').match(/--from \d+/)?.[0] ?? '';
    const other = last === undefined || last.commit === commit ? '' : `of commit ${last.commit.slice(0, 10)}`;
    return `${row(part.name, stateOf(lines, part), passed, failed, skipped, minutes)}  ${from} ${other}`.trimEnd();
  });
  const left = parts.filter((part) => stateOf(lines, part) !== 'passed').length;
  return [
    row('part', 'state', 'passed', 'failed', 'skipped', 'minutes'),
    ...rows,
    '',
    `${parts.length - left} of ${parts.length} parts have passed`,
    '',
    closingLine({
      passed: sum(lasts, 'passed'),
      failed: sum(lasts, 'failed'),
      skipped: sum(lasts, 'skipped'),
    }),
  ].join('\n');
}

/** The record of this commit, or with `anyCommit` the one that was written last. */
function recordFile(commit: string, anyCommit: boolean): string {
  const own = join(FOLDER, `${commit}.jsonl`);
  if (!anyCommit || !existsSync(FOLDER)) return own;
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'));
  const writtenAt = (name: string) => statSync(join(FOLDER, name)).mtimeMs;
  const [newest] = files.sort((a, b) => writtenAt(b) - writtenAt(a));
  return newest === undefined ? own : join(FOLDER, newest);
}

let isStopped = false;
let running: ReturnType<typeof spawn> | undefined;

/** Runs a part and passes on what it prints. Undefined when it was stopped. */
async function run(part: Part, logFile: string): Promise<(Counts & { isGreen: boolean }) | undefined> {
  const child = spawn(process.execPath, [join(root, part.file), ...part.args], {
    cwd: root,
    env: { ...process.env, ...FULL, ...part.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running = child;
  const log = createWriteStream(logFile);
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log.write(chunk);
      process.stdout.write(chunk);
      if (stream === child.stdout) tail = (tail + chunk.toString()).slice(-10_000);
    });
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  running = undefined;
  log.end();
  await finished(log);
  if (isStopped) return undefined;
  const counts = countsOf(tail);
  return { ...counts, isGreen: isGreen(counts, code) };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      list: { type: 'boolean' },
      failed: { type: 'boolean' },
      'any-commit': { type: 'boolean' },
    },
  });
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const anyCommit = values['any-commit'] === true;
  const file = recordFile(commit, anyCommit);
  const logs = join(FOLDER, basename(file, '.jsonl'));
  mkdirSync(logs, { recursive: true });
  const read = (path: string) => (existsSync(path) ? readLines(readFileSync(path, 'utf8')) : []);
  const lines = together(read(ENDED), read(file), commit, anyCommit);
  const parts = partsOf(trackedFiles(), commit, lines).filter(({ name }) =>
    name.startsWith(values.only ?? ''),
  );
  if (parts.length === 0) throw new Error(`no part has a name that begins with ${values.only ?? ''}`);
  const write = (line: RecordLine) => {
    lines.push(line);
    // A line that was cut when a run was killed must not take this one with it.
    appendFileSync(file, `\n${JSON.stringify(line)}`);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      isStopped = true;
      running?.kill('SIGTERM');
      setTimeout(() => running?.kill('SIGKILL'), STOP_LIMIT_MS).unref();
    });
  }

  for (const part of values.list === true ? [] : dueParts(parts, lines, values)) {
    const { name, args } = part;
    const begun = { part: name, commit, began: new Date().toISOString(), args };
    const start = performance.now();
    say(`\n=== ${name}: ${part.file} ${args.join(' ')}`);
    write(begun);
    const outcome = await run(part, join(logs, `${name.replaceAll(/[ /]/g, '-')}.log`));
    if (outcome === undefined) break;
    const seconds = Math.round((performance.now() - start) / 100) / 10;
    const ended = { ...begun, seconds, ...outcome, cores: availableParallelism() };
    write(ended);
    appendFileSync(ENDED, `${JSON.stringify(ended)}\n`);
  }
  say(`\n${table(parts, lines, commit)}`);
  process.exitCode = parts.every((part) => stateOf(lines, part) === 'passed') ? 0 : 1;
}

if (import.meta.main) await main();
