import { createHash } from 'node:crypto';
import type { Counts } from './closing-line.ts';

/* What the nightly run consists of. */

const SEEDS = 200_000;
/** About five minutes on two cores. A part that began with another number keeps it. */
const SEEDS_OF_PART = 15_000;
/** Fresh seeds begin below this, as those of `npm run test:simulation` do. */
const BASE_MAX = 1_000_000_000;

type Env = { POSTGRES?: string; FAULTS_PART?: string };
export type Part = { name: string; file: string; args: readonly string[]; env?: Env };

/** A line is written when a part begins, and another when it ends; one that was stopped has no second line. */
export type RecordLine = { part: string; commit: string; began: string; args: readonly string[] } & Partial<
  Counts & { seconds: number; isGreen: boolean; cores: number }
>;

const TESTS = 'tools/test.ts';
const SIMULATION = 'test/simulation/main.ts';
const CONTAINERS = 'test/containers/main.ts';
const MUTATION = 'tools/mutation.ts';
/** The oldest Postgres that docs/install.md promises; other parts run on the newest. */
const OLDEST = { file: TESTS, env: { POSTGRES: '15' } };

/** How many parts suites are run in that go through hours of faults. */
const PARTS_OF: Readonly<Record<string, number>> = { 'test/faults/chain-node.test.ts': 4 };

/** Long suites are parts of their own, or several, so that a run that is stopped loses little. */
export function partsOf(files: readonly string[], commit: string, lines: readonly RecordLine[] = []): Part[] {
  const suitesOf = (project: string, pattern: RegExp): Part[] =>
    files
      .filter((path) => pattern.test(path))
      .flatMap((path) => {
        const part = { name: `${project} ${shortName(path)}`, file: TESTS, args: [project, path] };
        const of = PARTS_OF[path] ?? 1;
        if (of === 1) return part;
        return Array.from({ length: of }, (_, i) => {
          const which = `${i + 1}/${of}`;
          return { ...part, name: `${part.name} ${which}`, env: { FAULTS_PART: which } };
        });
      });
  return [
    { name: 'tests unit', file: TESTS, args: ['unit'] },
    { name: 'tests integration', file: TESTS, args: ['integration'] },
    { name: 'tests e2e', file: TESTS, args: ['e2e'] },
    { name: 'tests browser', file: TESTS, args: ['browser'] },
    ...suitesOf('chain-scenarios', /^test\/(chain-scenarios|simulation|interleavings)\/.*\.test\.ts$/),
    ...suitesOf('faults', /^test\/faults\/.*\.test\.ts$/),
    { name: 'postgres 15 integration', args: ['integration'], ...OLDEST },
    { name: 'postgres 15 e2e', args: ['e2e'], ...OLDEST },
    { name: 'postgres 15 interleavings', args: ['chain-scenarios', 'test/interleavings/'], ...OLDEST },
    { name: 'medusa', file: TESTS, args: ['medusa'] },
    { name: 'containers integration', file: CONTAINERS, args: ['integration'] },
    { name: 'containers few', file: CONTAINERS, args: ['few'] },
    { name: 'containers compose', file: CONTAINERS, args: ['compose'] },
    { name: 'mutation', file: MUTATION, args: [] },
    { name: 'simulation corpus and mutants', file: SIMULATION, args: ['--seeds', '0'] },
    ...seedParts(commit, lines),
  ];
}

/** The parts with seeds that have begun, and parts of what these leave of all seeds. */
function seedParts(commit: string, lines: readonly RecordLine[]): Part[] {
  const parts = new Map<string, Part>();
  for (const { part: name, args } of lines)
    if (SEED_PART.test(name)) parts.set(name, { name, file: SIMULATION, args });
  let left = [...parts.values()].reduce((seeds, part) => seeds - seedsOf(part), SEEDS);
  for (let i = 1; left > 0; i++) {
    const name = `simulation ${String(i).padStart(2, '0')}`;
    if (parts.has(name)) continue;
    const seeds = Math.min(left, SEEDS_OF_PART);
    const args = ['--only-fresh', '--seeds', String(seeds), '--from', String(baseOf(commit, name))];
    parts.set(name, { name, file: SIMULATION, args });
    left -= seeds;
  }
  return [...parts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const SEED_PART = /^simulation \d\d$/;

// eslint-disable-next-line no-restricted-syntax -- how many seeds
const seedsOf = ({ args }: Part): number => Number(args[args.indexOf('--seeds') + 1]);

const shortName = (path: string): string =>
  path
    .replace(/^(test\/chain-scenarios|test\/faults|test|services)\//, '')
    .replace(/\.test\.ts$/, '')
    .replace('/test/', '/');

/** Where the seeds of a part begin: elsewhere for each commit, and always the same for one. */
function baseOf(commit: string, part: string): number {
  return 1 + (createHash('sha256').update(`${commit} ${part}`).digest().readUInt32BE() % BASE_MAX);
}
