/** `PROOFS=full` runs every proof at the size that is claimed for it; without it they are small enough for every day. */
export const sized = (small: number, full: number): number =>
  process.env['PROOFS'] === 'full' ? full : small;

/**
 * Seeds of generated scripts, in batches: its first seed, and all of them. `SEED=17 SCRIPTS=1` plays that script alone,
 * to see again what failed.
 */
export function batches({
  small,
  full,
  atOnce,
}: {
  small: number;
  full: number;
  atOnce: number;
}): { from: number; seeds: number[] }[] {
  const first = given('SEED') ?? 1;
  const count = given('SCRIPTS') ?? sized(small, full);
  return Array.from({ length: Math.ceil(count / atOnce) }, (_, i) => {
    const from = first + i * atOnce;
    return {
      from,
      seeds: Array.from({ length: Math.min(atOnce, first + count - from) }, (_, k) => from + k),
    };
  });
}

/** The seed of what is random but not generated as scripts. */
export const seedOr = (otherwise: number): number => given('SEED') ?? otherwise;

function given(name: string): number | undefined {
  const text = process.env[name];
  // eslint-disable-next-line no-restricted-syntax -- a seed or a count
  return text === undefined || text === '' ? undefined : Number.parseInt(text, 10);
}
