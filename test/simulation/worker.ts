import { parentPort, workerData } from 'node:worker_threads';
import type { ChainKind } from '@quittance/shared/assets';
import { reason } from '@quittance/shared/logger';
import type { Fault } from './faults.ts';
import { type Mutant, wiringWith } from './mutant.ts';
import { NOT_RUN, resultOf } from './mutant-result.ts';
import { mutants } from './mutants/mutants.ts';
import { notApplied } from './mutants/statements.ts';
import type { Found, Report, Task } from './runner.ts';
import { Seeds } from './seeds.ts';
import type { PostgresCode } from './stored-database.ts';

let opened: Seeds | undefined;

/** One kind of chain at a time: each database takes half a gigabyte. */
async function seedsOf(kind: ChainKind): Promise<Seeds> {
  if (opened?.kind !== kind) opened = await Seeds.open(kind, opened, workerData as PostgresCode);
  return opened;
}

function mutantOf(name: string | undefined): Mutant | undefined {
  const mutant = mutants.find((one) => one.name === name);
  if (mutant === undefined && name !== undefined) throw new Error(`there is no mutant ${name}`);
  return mutant;
}

async function run(task: Task): Promise<Report> {
  const seeds = await seedsOf(task.kind);
  const mutant = mutantOf(task.mutant);
  const found: Found[] = [];
  const struck = new Map<Fault, number>();
  let fair = 0;
  const hashes: Report['hashes'] = [];
  let count = 0;
  while (count < task.count) {
    const seed = task.from + (task.isBackward === true ? task.count - 1 - count : count);
    count += 1;
    let violations: string[];
    try {
      const outcome = await seeds.run(seed, { wiring: wiringWith(mutant), doubts: task.doubts === true });
      if (notApplied.size > 0) throw new Error([...notApplied].join());
      hashes.push([seed, outcome.hash]);
      if (outcome.struck.size === 0) fair += 1;
      for (const [fault, times] of outcome.struck) struck.set(fault, (struck.get(fault) ?? 0) + times);
      violations = outcome.violations;
    } catch (error) {
      violations = [`${NOT_RUN}: ${reason(error)}`];
      notApplied.clear();
    }
    if (mutant === undefined) {
      if (violations.length > 0) found.push({ seed, violations });
      continue;
    }
    const { state, violation } = resultOf(violations, mutant);
    if (state === 'not_found') continue;
    found.push({ seed, violations: [violation] });
    break;
  }
  return { task, seeds: count, found, hashes, struck: [...struck], fair };
}

parentPort?.on('message', (task: Task) => {
  void run(task).then((report) => parentPort?.postMessage(report));
});
