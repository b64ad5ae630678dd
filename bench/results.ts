import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Benchmark, type Sample, targetText } from './benchmark.ts';
import type { Outcome } from './compare-sides.ts';
import { commit, type Machine, machine } from './machine.ts';

/** A line of `bench/results/NAME.jsonl`. */
export type Result = Outcome & {
  at: string;
  commit: string;
  machine: Machine;
  name: string;
  target: string;
  unit: string;
};

const fileOf = (name: string) => fileURLToPath(new URL(`./results/${name}.jsonl`, import.meta.url));
export const readme: string = fileURLToPath(new URL('./README.md', import.meta.url));
const [BEGIN, END] = ['<!-- results: written by npm run bench -->', '<!-- end of results -->'] as const;
const DIGITS = 4;

/** Appends what was measured. */
export function record({ name, target, unit }: Benchmark, outcome: Outcome, now = new Date()): Result {
  const result = {
    ...{ at: now.toISOString(), commit: commit(), machine: machine() },
    ...{ name, target: targetText(target), unit },
    ...outcome,
  };
  const short = (_key: string, value: unknown) =>
    // eslint-disable-next-line no-restricted-syntax -- a measurement
    typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : value;
  appendFileSync(fileOf(name), `${JSON.stringify(result, short)}\n`);
  return result;
}

/** The last result of a benchmark. */
function lastResult(name: string): Result | undefined {
  const file = fileOf(name);
  if (!existsSync(file)) return undefined;
  const line = readFileSync(file, 'utf8').trimEnd().split('\n').at(-1);
  return line === undefined || line === '' ? undefined : (JSON.parse(line) as Result);
}

/** The README with the last result of each benchmark. */
export function readmeWith(all: readonly Benchmark[]): string {
  const text = readFileSync(readme, 'utf8');
  const [head = ''] = text.split(BEGIN);
  const [, tail = ''] = text.split(END);
  return `${head}${BEGIN}\n\n${tables(all)}\n\n${END}${tail}`;
}

export const writeReadme = (all: readonly Benchmark[]): void => writeFileSync(readme, readmeWith(all));

function tables(all: readonly Benchmark[]): string {
  const rows = all.map((one) => ({ one, last: lastResult(one.name) }));
  const measured = rows.flatMap(({ last }) => last ?? []);
  const table = (head: string[], lines: string[][]) =>
    [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return [
    table(
      [
        'benchmark',
        'what it measures',
        'yardstick of the same run',
        'target',
        'ratio (least to greatest)',
        'ours',
        'yardstick',
      ],
      rows.map(({ one, last }) => [
        ...[`\`${one.name}\``, one.what, one.yardstick, targetText(one.target)],
        ...(last === undefined
          ? ['not measured yet', '', '']
          : [
              `${last.isMissed ? '' : '**'}${figure(last.ratio)}${last.isMissed ? '' : '**'} (${last.spread.map(figure).join(' to ')})`,
              `${figure(last.ours.figure)} ${last.unit}`,
              `${figure(last.theirs.figure)} ${last.unit}`,
            ]),
      ]),
    ),
    table(
      [
        'benchmark',
        'p50, p95, p99 in ms',
        'CPU of an operation in µs',
        'of the yardstick',
        'most memory in MB',
        'more',
        'measured',
      ],
      measured.map((last) => [
        `\`${last.name}\``,
        last.ours.p50Ms === undefined ? '' : times(last.ours),
        named(last.cpuMicroseconds),
        named(last.yardstickCpuMicroseconds ?? {}),
        named(last.megabytes),
        named(last.ours.more ?? {}),
        `${last.at.slice(0, 10)}, ${last.commit}, load ${last.machine.load}`,
      ]),
    ),
  ].join('\n\n');
}

const times = ({ p50Ms = 0, p95Ms = 0, p99Ms = 0 }: Sample) => [p50Ms, p95Ms, p99Ms].map(figure).join(', ');

const named = (figures: Record<string, number>): string =>
  Object.entries(figures)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${name} ${figure(value)}`)
    .join(', ');

function figure(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en');
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** What is said of a result at the end of a run. */
export function report({ name, ratio, spread, target, unit, ours, theirs, ...last }: Result): string {
  const side = (sample: Sample) =>
    `${figure(sample.figure)} ${unit}${sample.p50Ms === undefined ? '' : `, p50/95/99 ${times(sample)} ms`}`;
  return [
    `${name}: ratio ${figure(ratio)} (${spread.map(figure).join(' to ')}, target ${target}${last.isMissed ? ', MISSED' : ''})`,
    `  ours      ${side(ours)}`,
    `  yardstick ${side(theirs)}`,
    ...(Object.keys(last.cpuMicroseconds).length > 0 ? [`  CPU µs    ${named(last.cpuMicroseconds)}`] : []),
    ...(Object.keys(last.yardstickCpuMicroseconds).length > 0
      ? [`  CPU µs    ${named(last.yardstickCpuMicroseconds)} (yardstick)`]
      : []),
    ...(Object.keys(last.megabytes).length > 0 ? [`  MB        ${named(last.megabytes)}`] : []),
    ...(ours.more === undefined ? [] : [`  more      ${named(ours.more)}`]),
    '',
  ].join('\n');
}
