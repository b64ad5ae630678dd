import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ChainKind } from '@quittance/shared/assets';
import { z } from 'zod';
import { knownFindings } from './find-mutants.ts';

/** A scenario: a kind of chain, and a seed. */
export type Place = { kind: ChainKind; seed: number };

const schema = z.array(
  z.strictObject({ kind: z.enum(['bitcoin', 'evm', 'solana']), seed: z.int().positive() }),
);
const FILE = new URL('failed-seeds.json', import.meta.url);
/** Fresh seeds begin below this, so that they stay small numbers. */
const BASE_MAX = 1_000_000_000;

const readFailed = (): Place[] => schema.parse(JSON.parse(readFileSync(FILE, 'utf8')));

/** The scenarios of every run: each that ever failed, and each that shows a mutant. */
export function corpus(): Place[] {
  const all = [...readFailed(), ...[...knownFindings().values()].map(({ kind, seed }) => ({ kind, seed }))];
  return [...new Map(all.map((place) => [`${place.kind} ${place.seed}`, place])).values()];
}

/** Where fresh seeds begin: elsewhere in each run, and printed, so that a run can be repeated. */
export const freshBase = (): number => randomInt(1, BASE_MAX);

/** Adds scenarios that failed, for every later run. Commit the file together with what mends them. */
export function addFailed(places: readonly Place[]): void {
  const known = readFailed();
  const isKnown = ({ kind, seed }: Place) => known.some((one) => one.kind === kind && one.seed === seed);
  const added = places.filter((place) => !isKnown(place));
  if (added.length > 0) writeFileSync(FILE, `${JSON.stringify([...known, ...added], null, 2)}\n`);
}
