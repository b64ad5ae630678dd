import { inColumns } from '@quittance/testkit/in-columns';
import type { Findings } from './expect-harmless.ts';

/** What merchants met in one step of a suite. */
export type Step = {
  step: string;
  reads: number;
  failedReads: number;
  /** How many payouts got each answer; 0 where there was none. */
  payouts: Map<number, number>;
  found: Findings;
};

const answersText = (payouts: Step['payouts']): string =>
  [...payouts]
    .toSorted(([a], [b]) => a - b)
    .map(([status, n]) => `${status === 0 ? 'no answer' : status}: ${n}`)
    .join(', ');

const cells = ({ step, reads, failedReads, payouts, found }: Step): string[] => [
  step,
  String(reads),
  String(failedReads),
  answersText(payouts),
  found.slowestRecoveryMs === undefined ? '-' : `${(found.slowestRecoveryMs / 1_000).toFixed(1)} s`,
  String(found.violations.length),
];

/** One line for each step, and then one for each violation. */
export function stepsTable(steps: readonly Step[]): string {
  const head = ['step', 'reads', 'failed', 'payouts by answer', 'slowest recovery', 'violations'];
  const lines = inColumns([head, ...steps.map(cells)]);
  const violations = steps.flatMap(({ step, found }) => found.violations.map((what) => `${step}: ${what}`));
  return `\n${[...lines, ...violations].join('\n')}\n`;
}
