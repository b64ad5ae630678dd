import { seeded } from '@quittance/testkit/seeded';
import { reportDraw } from './table.ts';

/** `FAULTS=full` runs every fault as often as is claimed for it; without it few enough for every day. */
export const isFull = process.env['FAULTS'] === 'full';
export const sized = (small: number, full: number): number => (isFull ? full : small);

/** Which of the faults run today. `npm run test:faults` draws it and prints it; `FAULTS_SEED` runs the same ones again. */
export const FAULTS_SEED = Number(process.env['FAULTS_SEED'] ?? 1); // eslint-disable-line no-restricted-syntax -- a seed

/** A share of them, at least one, in their order. */
export function drawSome<T>(all: readonly T[], random: () => number, share: number): T[] {
  const drawn = all
    .map((one, i) => ({ one, i, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, Math.ceil(all.length * share));
  return drawn.toSorted((a, b) => a.i - b.i).map(({ one }) => one);
}

/** The others come on other days; `npm run test:nightly` has all. */
const SHARE_OF_A_DAY = 1 / 3;

/** Part `2/4` is the second quarter of them: the parts together are all, and none is in two. */
export function partOf<T>(all: readonly T[], part: string): T[] {
  const [which = 1, of = 1] = part.split('/').map(Number); // eslint-disable-line no-restricted-syntax -- of how many
  return all.filter((_, i) => i % of === which - 1);
}

/** Which part of its faults a suite of hours goes through at full size. */
const FAULTS_PART = process.env['FAULTS_PART'] ?? '1/1';

/** All faults of a suite at full size, or those of its part; else a third of them, which the seed draws. */
export function faultsOfTheDay<T>(faults: readonly T[]): T[] {
  const today = isFull ? partOf(faults, FAULTS_PART) : drawSome(faults, seeded(FAULTS_SEED), SHARE_OF_A_DAY);
  reportDraw({ drawn: today.length, of: faults.length });
  return today;
}
