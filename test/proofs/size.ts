/** `PROOFS=full` runs every proof at the size that is claimed for it; without it they are small enough for every day. */
export const sized = (small: number, full: number): number =>
  process.env['PROOFS'] === 'full' ? full : small;

/** Where generated scripts begin: `SEED=…` runs those of a failure again, the first of them alone with `SCRIPTS=1`. */
export const firstSeed = (otherwise: number): number => fromEnvironment('SEED') ?? otherwise;
export const scripts = (otherwise: number): number => fromEnvironment('SCRIPTS') ?? otherwise;

function fromEnvironment(name: string): number | undefined {
  const text = process.env[name];
  // tidy-allow number: a seed or a count
  return text === undefined || text === '' ? undefined : Number.parseInt(text, 10);
}
