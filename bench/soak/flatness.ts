import { median } from '../drive.ts';
import type { Sample } from './samples.ts';

/** What a figure may grow by, from the second quarter of a soak to the last one: a factor, and so much more. */
export type Allowance = { times: number; plus: number };

/** Memory settles for a while after a start, and the first quarter says nothing. */
const allowances = {
  megabytes: { times: 1.15, plus: 20 },
  descriptors: { times: 1, plus: 10 },
  lagMs: { times: 2, plus: 20 },
  bytes: { times: 1.25, plus: 512 },
} as const satisfies Record<keyof Sample, Allowance>;

export type Trend = { of: string; before: number; after: number; isFlat: boolean };

/**
 * The medians of a kind of figure in the second and in the last quarter of the samples. What is not in both is left out.
 *
 * @throws RangeError for fewer than four samples
 */
export function trends(kind: keyof Sample, samples: readonly Sample[]): Trend[] {
  const quarter = Math.floor(samples.length / 4);
  if (quarter === 0) throw new RangeError('a soak has four samples at least');
  const second = samples.slice(quarter, 2 * quarter);
  const last = samples.slice(-quarter);
  const { times, plus } = allowances[kind];
  return Object.keys(last.at(-1)?.[kind] ?? {}).flatMap((of) => {
    const [before, after] = [second, last].map((some) => some.flatMap((one) => one[kind][of] ?? []));
    if (before === undefined || after === undefined || before.length === 0) return [];
    const [from, to] = [median(before), median(after)];
    return [{ of, before: from, after: to, isFlat: to <= from * times + plus }];
  });
}
