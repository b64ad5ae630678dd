import type { Mutant } from './mutant.ts';

/** How the line begins that reports a seed whose scenario was not run to its end. */
export const NOT_RUN = 'could not be run';

export const isNotRun = (violation: string): boolean => violation.startsWith(NOT_RUN);

export type MutantResult = { state: 'found' | 'not_run' | 'not_found'; violation: string };

/**
 * What a scenario with a mutant has shown, and the violation that decides it. Only the violation that the mutant names
 * finds it: a scenario that ends wrong in another way, or does not end, may be due to an error in the mutant.
 */
export function resultOf(violations: readonly string[], { shows }: Pick<Mutant, 'shows'>): MutantResult {
  const notRun = violations.find(isNotRun);
  if (notRun !== undefined) return { state: 'not_run', violation: notRun };
  const shown = violations.find((violation) => shows.test(violation));
  return shown === undefined ? { state: 'not_found', violation: '' } : { state: 'found', violation: shown };
}
