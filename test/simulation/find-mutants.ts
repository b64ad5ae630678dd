import { readFileSync, writeFileSync } from 'node:fs';
import type { ChainKind } from '@quittance/shared/assets';
import type { Mutant } from './mutant.ts';
import type { Task, Workers } from './runner.ts';

/** The first scenario that shows a mutant, or that could not be run with it, and the violation that says so. */
export type Finding = { kind: ChainKind; seed: number; violation: string };

export type Search = {
  workers: Workers;
  kinds: readonly ChainKind[];
  /** The first seed, and how many there are to try. */
  from: number;
  count: number;
  /** Where each was found last. A change of the scenarios may have made it untrue: then it is searched for. */
  known: ReadonlyMap<string, Pick<Finding, 'kind' | 'seed'>>;
};

const FILE = new URL('mutants/found-at.json', import.meta.url);

export const knownFindings = (): Search['known'] =>
  new Map(Object.entries(JSON.parse(readFileSync(FILE, 'utf8'))));

export function writeFindings(found: Search['known']): void {
  const places = [...found].map(([name, { kind, seed }]) => [name, { kind, seed }] as const);
  places.sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(places), null, 2)}\n`);
}

/**
 * Applies each mutant in scenarios until one shows the violation that it names. Found on one kind of chain is found. A
 * scenario that could not be run ends the search too: the mutant itself is wrong, and another seed may hide that.
 * @returns what decided each mutant, by its name
 */
export async function findMutants(
  wanted: readonly Mutant[],
  { workers, kinds, from, count, known }: Search,
): Promise<Map<string, Finding>> {
  const found = new Map<string, Finding>();
  const run = async (tasks: Task[]): Promise<void> =>
    await workers.run(
      () => tasks.shift(),
      ({ task, found: [first] }) => {
        if (first === undefined || task.mutant === undefined) return;
        const [violation = ''] = first.violations;
        found.set(task.mutant, { kind: task.kind, seed: first.seed, violation });
      },
    );

  await run(
    kinds.flatMap((kind) =>
      wanted.flatMap(({ name }) => {
        const place = known.get(name);
        return place?.kind === kind ? [{ kind, from: place.seed, count: 1, mutant: name }] : [];
      }),
    ),
  );
  for (const kind of kinds) {
    const left = wanted.filter((one) => !found.has(one.name) && (one.kinds?.includes(kind) ?? true));
    await run(
      left.map(({ name, seedsMax = 0 }) => ({ kind, from, count: Math.max(count, seedsMax), mutant: name })),
    );
  }
  return found;
}
