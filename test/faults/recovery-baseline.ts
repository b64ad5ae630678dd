import { readFileSync, writeFileSync } from 'node:fs';
import { isFull } from './size.ts';
import type { FaultReport } from './table.ts';

/** The last recoveries of each kind on a quiet machine, in seconds. At full size faults last longer, so it has its own. */
export type RecoveryBaseline = Record<string, number[]>;

const FILE = new URL('recovery-baseline.json', import.meta.url);
const SIZE = isFull ? 'full' : 'daily';
const SAMPLES_MAX = 9;
/** Slower than its median by more than this is a failure. */
const TIMES_SLOWER_MAX = 3;
/** A recovery that is usually shorter is measured against this: the polls of a test take as long. */
const SHORTEST_S = 1;

type Baselines = Record<'daily' | 'full', RecoveryBaseline>;
const readAll = (): Baselines => JSON.parse(readFileSync(FILE, 'utf8')) as Baselines;
export const readRecoveryBaseline = (): RecoveryBaseline => readAll()[SIZE];

/**
 * Rows of the crash matrix are one kind for each service: what is measured is the recovery of a round, and which rows share
 * a round differs from day to day. Numbers in a name, and what a broker lost, are those of that run.
 */
const kindOf = ({ group, fault }: FaultReport): string =>
  `${group}: ${group === 'crash matrix' ? fault.split(' at ')[0] : fault.replace(/: the broker lost .*/, '').replaceAll(/\d+/g, 'N')}`;

/** Of an even number of samples what lies between the two in the middle. */
function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const [lower = 0, upper = 0] = [0, 1].map((n) => sorted[Math.floor((sorted.length - 1 + n) / 2)]);
  return Math.round(5 * (lower + upper)) / 10;
}

function secondsByKind(reports: readonly FaultReport[]): Map<string, number[]> {
  const measured = reports.filter(({ slowestRecoveryMs }) => slowestRecoveryMs !== undefined);
  const seconds = ({ slowestRecoveryMs = 0 }: FaultReport) => Math.round(slowestRecoveryMs / 100) / 10;
  return new Map([...Map.groupBy(measured, kindOf)].map(([kind, all]) => [kind, all.map(seconds)]));
}

/** Recoveries that took more than three times as long as usual. A kind without a baseline is not compared. */
export function slowRecoveries(
  reports: readonly FaultReport[],
  baseline: RecoveryBaseline,
  patience: number,
): string[] {
  return [...secondsByKind(reports)].flatMap(([kind, measured]) => {
    const usual = baseline[kind];
    if (usual === undefined) return [];
    const limit = Math.max(median(usual), SHORTEST_S) * TIMES_SLOWER_MAX * patience;
    const slowest = Math.max(...measured);
    return slowest > limit
      ? [
          `${kind}: recovered after ${slowest} s, usual are ${median(usual)} s, the limit is ${limit.toFixed(1)} s`,
        ]
      : [];
  });
}

/** Kinds that recovered and have no baseline to be compared with: `FAULTS_RECORD=1` on a quiet machine gives them one. */
export const kindsWithoutBaseline = (reports: readonly FaultReport[], baseline: RecoveryBaseline): string[] =>
  [...secondsByKind(reports).keys()].filter((kind) => baseline[kind] === undefined);

/** Adds what was measured, which has to be on a quiet machine. */
export function recordRecoveries(reports: readonly FaultReport[]): void {
  const all = readAll();
  const recorded = all[SIZE];
  for (const [kind, measured] of secondsByKind(reports))
    recorded[kind] = [...(recorded[kind] ?? []), median(measured)].slice(-SAMPLES_MAX);
  all[SIZE] = Object.fromEntries(Object.entries(recorded).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify(all, null, 2)}\n`);
}
