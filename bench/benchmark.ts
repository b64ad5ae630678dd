import type { Lab } from './lab.ts';

/**
 * A path of ours against its yardstick, measured in turn in one run on one machine. Absolute figures move from machine to
 * machine: the ratio of ours to the yardstick is the result.
 */
export type Benchmark = {
  /** As it is chosen: `npm run bench NAME`. */
  name: string;
  /** What is measured, as a sentence of the README. */
  what: string;
  yardstick: string;
  /** The ratio that ours should reach at least, or have at most. */
  target: { atLeast: number } | { atMost: number };
  /** Of the figures of both sides, such as `requests/s`. */
  unit: string;
  /** How often both sides are measured; five times when not given. */
  rounds?: number;
  /** They are measured once before, uncounted, unless this is false. */
  warmUp?: boolean;
  setUp(lab: Lab): Promise<Sides>;
};

export type Sides = {
  /** Measures once, for some seconds. */
  ours(): Promise<Sample>;
  theirs(): Promise<Sample>;
  close(): Promise<void>;
  /** The processes whose CPU and memory are told while ours is measured, by their names. */
  processes?: Readonly<Record<string, number | undefined>>;
};

/** One measurement of a side. */
export type Sample = {
  /** What the ratio is made of. */
  figure: number;
  /** How many requests, events or blocks that were: CPU is told for each. */
  operations?: number;
  p50Ms?: number;
  p95Ms?: number;
  p99Ms?: number;
  /** Other figures worth keeping, by their names. */
  more?: Readonly<Record<string, number>>;
};

export const isMissed = (ratio: number, target: Benchmark['target']): boolean =>
  'atLeast' in target ? ratio < target.atLeast : ratio > target.atMost;

export const targetText = (target: Benchmark['target']): string =>
  'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
