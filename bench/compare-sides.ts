import { performance } from 'node:perf_hooks';
import { type Benchmark, isMissed, type Sample, type Sides } from './benchmark.ts';
import { median } from './drive.ts';
import { type Usage, watchProcesses } from './processes.ts';

const ROUNDS = 5;
const MICROSECONDS = 1e6;

export type Outcome = {
  /** The median of the rounds' own ratios, and the least and the greatest of them. */
  ratio: number;
  spread: [number, number];
  isMissed: boolean;
  ours: Sample;
  theirs: Sample;
  /** Microseconds of CPU for each operation of ours, by process. */
  cpuMicroseconds: Record<string, number>;
  /** The same of the yardstick: of those of the processes that it uses too, such as Postgres. */
  yardstickCpuMicroseconds: Record<string, number>;
  /** The most resident memory while ours was measured, by process. */
  megabytes: Record<string, number>;
  seconds: number;
};

/** Measures both sides in turn, as often as the benchmark says; who is first changes from round to round. */
export async function compareSides(
  { target, rounds = ROUNDS, warmUp = true }: Benchmark,
  { ours, theirs, processes = {} }: Sides,
): Promise<Outcome> {
  const begun = performance.now();
  if (warmUp) {
    await theirs();
    await ours();
  }
  const usages: { ours: Usage[]; theirs: Usage[] } = { ours: [], theirs: [] };
  const samples: { ours: Sample; theirs: Sample }[] = [];
  const measure = async (side: 'ours' | 'theirs') => {
    const watched = watchProcesses(processes);
    const sample = await { ours, theirs }[side]();
    usages[side].push(watched.end());
    return sample;
  };
  for (let round = 0; round < rounds; round++) {
    const isOursFirst = round % 2 === 1;
    const first = await measure(isOursFirst ? 'ours' : 'theirs');
    const second = await measure(isOursFirst ? 'theirs' : 'ours');
    samples.push(isOursFirst ? { ours: first, theirs: second } : { ours: second, theirs: first });
  }
  const ratios = samples.map((one) => one.ours.figure / one.theirs.figure);
  const ratio = median(ratios);
  return {
    ratio,
    spread: [Math.min(...ratios), Math.max(...ratios)],
    isMissed: isMissed(ratio, target),
    ours: medians(samples.map((one) => one.ours)),
    theirs: medians(samples.map((one) => one.theirs)),
    cpuMicroseconds: cpuOf(
      usages.ours,
      samples.map((one) => one.ours),
    ),
    yardstickCpuMicroseconds: cpuOf(
      usages.theirs,
      samples.map((one) => one.theirs),
    ),
    megabytes: mostOf(usages.ours),
    seconds: (performance.now() - begun) / 1_000,
  };
}

function medians(samples: readonly Sample[]): Sample {
  const of = (values: (number | undefined)[]) => median(values.filter((value) => value !== undefined));
  const [first] = samples;
  const optional = (['operations', 'p50Ms', 'p95Ms', 'p99Ms'] as const).filter(
    (key) => first?.[key] !== undefined,
  );
  const names = Object.keys(first?.more ?? {});
  return {
    figure: of(samples.map(({ figure }) => figure)),
    ...Object.fromEntries(optional.map((key) => [key, of(samples.map((sample) => sample[key]))])),
    ...(names.length > 0 && {
      more: Object.fromEntries(names.map((name) => [name, of(samples.map(({ more }) => more?.[name]))])),
    }),
  };
}

/** Microseconds for each operation, by process; of those that took any. */
function cpuOf(usages: readonly Usage[], samples: readonly Sample[]): Record<string, number> {
  const operations = samples.reduce((sum, sample) => sum + (sample.operations ?? 0), 0);
  if (operations === 0) return {};
  const names = Object.keys(usages[0]?.cpuSeconds ?? {});
  const each = names.map((name) => {
    const seconds = usages.reduce((sum, usage) => sum + (usage.cpuSeconds[name] ?? 0), 0);
    return [name, (seconds / operations) * MICROSECONDS] as const;
  });
  return Object.fromEntries(each.filter(([, microseconds]) => microseconds > 0));
}

function mostOf(usages: readonly Usage[]): Record<string, number> {
  const names = Object.keys(usages[0]?.megabytes ?? {});
  return Object.fromEntries(
    names.map((name) => [name, Math.max(...usages.map((usage) => usage.megabytes[name] ?? 0))]),
  );
}
