import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { ChainKind } from '@quittance/shared/assets';
import { closingLine } from '../../tools/closing-line.ts';
import { addFailed, corpus, freshBase } from './corpus.ts';
import { type Fault, faultKinds } from './faults.ts';
import { findMutants, knownFindings, writeFindings } from './find-mutants.ts';
import { type Mutant, wiringWith } from './mutant.ts';
import { isNotRun } from './mutant-result.ts';
import { mutants } from './mutants/mutants.ts';
import { type Hashes, repeatSeeds } from './repeat-seeds.ts';
import { type Report, type Task, Workers } from './runner.ts';
import { Seeds } from './seeds.ts';

/**
 * npm run test:simulation -- [--seeds N] [--from S] [--chain ethereum|bitcoin|solana] [--mutant NAME] [--workers N] [--search] [--only-fresh]
 *
 * Runs seeds: each is a scenario of merchants, customers and their money over two replicas of every service while
 * connections, brokers, nodes and processes fail, and must end with every unit where it belongs. First the corpus, which are
 * the seeds that ever failed and those of the mutants, then N fresh ones from S on, or from a base that is drawn and
 * printed. A seed that fails is added to the corpus. Some seeds are run twice, and must take the same steps. Then applies
 * mutants, each of which must be found by the violation that it names within a thousand seeds: at the seed that showed it
 * last, or else from the first one on. `--search` writes down where each was found; with `--mutant` where this one was.
 * `--only-fresh` runs neither the corpus nor mutants. `--seed S` prints one scenario step by step.
 */
const SEEDS = 20_000;
const MUTANT_SEEDS_MAX = 1_000;
/** A thread ends at most so many seeds after the others. */
const CHUNK = 20;
const SHOWN_MAX = 20;
/** So many of each kind of chain are run twice. */
const REPEATED = 60;
/** In so many seeds every kind of fault has struck, or it is never drawn. */
const ALL_STRIKE = 1_000;
const kinds: Record<string, ChainKind> = { ethereum: 'evm', bitcoin: 'bitcoin', solana: 'solana' };

const { values: given } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    from: { type: 'string' },
    mutant: { type: 'string' },
    workers: { type: 'string' },
    chain: { type: 'string' },
    search: { type: 'boolean' },
    'only-fresh': { type: 'boolean' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
/** What failed, said once more at the end: much is printed after a seed has failed. */
const failures: string[] = [];
const complain = (line: string): void => {
  say(line);
  failures.push(line);
};
const whole = (text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise;
  return Number.parseInt(text, 10); // eslint-disable-line no-restricted-syntax -- how many seeds and threads
};

const chosen = given.chain === undefined ? Object.keys(kinds) : [given.chain];
const unknown = chosen.find((chain) => kinds[chain] === undefined);
if (unknown !== undefined) throw new Error(`no chain ${unknown}: one of ${Object.keys(kinds).join(', ')}`);
const isOnlyFresh = given['only-fresh'] === true;
const workers = new Workers(whole(given.workers, availableParallelism()));
let passed = 0;
let failed = 0;

if (given.seed !== undefined) await tellOne(whole(given.seed, 0));
else {
  if (given.mutant === undefined) await runSeeds();
  if (!isOnlyFresh) await runMutants();
}
await workers.end();
if (failures.length > 0) say(['\nwhat failed:', ...failures].join('\n'));
say(`\n${closingLine({ passed, failed, skipped: 0 })}`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

async function tellOne(seed: number): Promise<void> {
  const [chain = 'ethereum'] = given.chain === undefined ? ['ethereum'] : chosen;
  const wiring = wiringWith(mutants.find(({ name }) => name === given.mutant));
  const seeds = await Seeds.open(kinds[chain] as ChainKind);
  const { violations, hash, statements, turns } = await seeds.run(seed, { wiring, tell: say });
  say(`\nseed ${seed}: ${statements} statements, ${turns} turns, trace ${hash.toString(16)}`);
  for (const violation of violations) say(`  ${violation}`);
  if (violations.length === 0) passed += 1;
  else failed += 1;
  await seeds.close();
}

async function runSeeds(): Promise<void> {
  const from = whole(given.from, freshBase());
  const all = whole(given.seeds, SEEDS);
  const fixed = (isOnlyFresh ? [] : corpus()).filter(({ kind }) =>
    chosen.some((chain) => kinds[chain] === kind),
  );
  say(`${fixed.length} seeds of the corpus, and ${all} fresh ones: --from ${from}`);
  const begun = performance.now();
  const struck = new Map<Fault, number>(faultKinds.map((fault) => [fault, 0]));
  let fair = 0;
  let shown = 0;
  const cpuBegun = process.cpuUsage();
  const first = new Map<ChainKind, Map<number, number>>();
  const take = ({ task, seeds, found, hashes, struck: of, fair: spared }: Report): void => {
    const kept = first.get(task.kind) ?? new Map<number, number>();
    first.set(task.kind, kept);
    for (const [seed, hash] of hashes) if (seed >= from && seed < from + REPEATED) kept.set(seed, hash);
    passed += seeds - found.length;
    failed += found.length;
    fair += spared;
    for (const [fault, times] of of) struck.set(fault, (struck.get(fault) ?? 0) + times);
    const chain = chainOf(task.kind);
    for (const { seed, violations } of found) {
      // At once: a run may be stopped. A thread that died says nothing of any seed.
      if (!violations.some(isNotRun)) addFailed([{ kind: task.kind, seed }]);
      shown += 1;
      if (shown > SHOWN_MAX) continue;
      complain(`${chain} seed ${seed}: npm run test:simulation -- --chain ${chain} --seed ${seed}`);
      for (const violation of violations) complain(`    ${violation}`);
    }
  };
  // One kind after the other: a thread has the database of one.
  const tasks = chosen.flatMap((chain, i) => {
    const kind = kinds[chain] as ChainKind;
    const own = fixed.filter((place) => place.kind === kind);
    const count = Math.floor(all / chosen.length) + (i < all % chosen.length ? 1 : 0);
    return [...own.map(({ seed }): Task => ({ kind, from: seed, count: 1 })), ...inChunks(kind, from, count)];
  });
  await workers.run(() => tasks.shift(), take);
  const seconds = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(cpuBegun);
  const cpuMs = (user + system) / 1_000;
  const run = passed + failed;
  say(
    `\n${run} seeds in ${seconds.toFixed(0)} s: ${(run / seconds).toFixed(0)} a second with ${workers.count} threads, ${(cpuMs / run).toFixed(1)} ms of CPU each`,
  );
  const strikes = [...struck.values()].reduce((sum, times) => sum + times, 0);
  say(
    `what went wrong in them (${(strikes / run).toFixed(1)} a seed; in ${((100 * fair) / run).toFixed(1)} % nothing did):`,
  );
  for (const [fault, times] of [...struck].sort(([, a], [, b]) => b - a)) {
    say(`${String(times).padStart(9)} × ${fault}`);
    if (times > 0 || run < ALL_STRIKE) continue;
    complain(`          ${fault} never struck: whatever it would break was not tried`);
    failed += 1;
  }
  await expectSameSteps(first);
}

async function expectSameSteps(first: ReadonlyMap<ChainKind, Hashes>): Promise<void> {
  for (const [, differing] of await repeatSeeds(workers.count, first)) {
    for (const line of differing) complain(line);
    if (differing.length === 0) passed += 1;
    else failed += 1;
  }
}

async function runMutants(): Promise<void> {
  // What cannot be seen on the kinds that are asked for is neither found nor missed there.
  const isFor = ({ kinds: only }: Mutant) =>
    only === undefined || chosen.some((chain) => only.includes(kinds[chain] as ChainKind));
  const wanted = mutants
    .filter((one) => given.mutant === undefined || given.mutant === one.name)
    .filter(isFor);
  if (wanted.length === 0) throw new Error(`no mutant ${given.mutant ?? ''} for ${chosen.join(', ')}`);
  const found = await findMutants(wanted, {
    workers,
    // The last kind first: its databases are there.
    kinds: chosen.map((chain) => kinds[chain] as ChainKind).reverse(),
    from: whole(given.from, 1),
    count: whole(given.mutant === undefined ? undefined : given.seeds, MUTANT_SEEDS_MAX),
    known: knownFindings(),
  });
  say('\nmutants, and the seed that shows each:');
  for (const { name, what } of wanted) {
    const finding = found.get(name);
    const isFound = finding !== undefined && !isNotRun(finding.violation);
    if (isFound) passed += 1;
    else failed += 1;
    const place = finding === undefined ? 'NOT FOUND' : isFound ? String(finding.seed) : 'NOT RUN';
    (isFound ? say : complain)(`${place.padStart(9)}  ${name}: ${what}`);
    if (finding !== undefined)
      say(`           ${chainOf(finding.kind)} seed ${finding.seed}: ${finding.violation}`);
  }
  if (given.search !== true || failed > 0) return;
  writeFindings(given.mutant === undefined ? found : new Map([...knownFindings(), ...found]));
}

function inChunks(kind: ChainKind, from: number, count: number): Task[] {
  return Array.from({ length: Math.ceil(count / CHUNK) }, (_, i) => {
    const first = i * CHUNK;
    return { kind, from: from + first, count: Math.min(CHUNK, count - first) };
  });
}

function chainOf(kind: ChainKind): string {
  return Object.keys(kinds).find((chain) => kinds[chain] === kind) ?? kind;
}
