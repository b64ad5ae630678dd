import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { inColumns } from '@quittance/testkit/in-columns';

/** What a fault did, as a suite reports it when it is over. */
export type FaultReport = {
  /** Which group of faults it belongs to: the table is sorted by it. */
  group: string;
  /** What was done to whom, in words: `payouts killed at payouts.signed`. */
  fault: string;
  /** How often it really happened; 0 fails the suite that planted it (I12). */
  fired: number;
  /** Violated invariants, and what the suite itself did not expect. */
  violations: number;
  /** From the end of the fault until all was right again, at its slowest; undefined where nothing had to recover. */
  slowestRecoveryMs: number | undefined;
  /** Why this machine cannot have that fault: it is in the table all the same, and fails nobody. */
  notTried?: string;
};

/** Adds a row to the table that `npm run test:faults` ends with; without it (jest called by hand) to nothing. */
export function reportFault(report: FaultReport): void {
  const file = process.env['FAULTS_FILE'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(report)}\n`);
}

/** How many kinds of faults a suite runs today, of how many that it has. */
export type Draw = { drawn: number; of: number };

/** Counts towards the line under the table. */
export function reportDraw(draw: Draw): void {
  const file = process.env['FAULTS_FILE'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(draw)}\n`);
}

const isDraw = (line: FaultReport | Draw): line is Draw => 'drawn' in line;

export function readFaults(file: string): { reports: FaultReport[]; draws: Draw[] } {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FaultReport | Draw);
  return {
    reports: lines.filter((line): line is FaultReport => !isDraw(line)),
    draws: lines.filter(isDraw),
  };
}

/** `drawn 41 of 113 kinds`; empty when none was drawn from. */
export function drawnLine(draws: readonly Draw[]): string {
  const [drawn, of] = (['drawn', 'of'] as const).map((what) =>
    draws.reduce((total, draw) => total + draw[what], 0),
  );
  return of === 0 ? '' : `drawn ${drawn} of ${of} kinds\n`;
}

/** One table of all faults, and their sum; empty when there were none. */
export function faultsTable(reports: readonly FaultReport[]): string {
  if (reports.length === 0) return '';
  const sorted = reports.toSorted((a, b) => a.group.localeCompare(b.group) || a.fault.localeCompare(b.fault));
  const slowest = Math.max(...reports.map(({ slowestRecoveryMs }) => slowestRecoveryMs ?? 0));
  const all: FaultReport = {
    group: 'all',
    fault: `${reports.length} kinds of faults`,
    fired: sum(reports, 'fired'),
    violations: sum(reports, 'violations'),
    slowestRecoveryMs: slowest,
  };
  const rows = [['', 'fault', 'fired', 'violations', 'slowest recovery'], ...[...sorted, all].map(cells)];
  return `\n${inColumns(rows, 2).join('\n')}\n`;
}

const sum = (reports: readonly FaultReport[], column: 'fired' | 'violations'): number =>
  reports.reduce((total, report) => total + report[column], 0);

const cells = ({ group, fault, fired, violations, slowestRecoveryMs, notTried }: FaultReport): string[] => [
  group,
  notTried === undefined ? fault : `${fault}: NOT TRIED, ${notTried}`,
  notTried === undefined ? String(fired) : '-',
  notTried === undefined ? String(violations) : '-',
  slowestRecoveryMs === undefined ? '-' : `${(slowestRecoveryMs / 1_000).toFixed(1)} s`,
];
