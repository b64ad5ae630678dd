import type { Discrepancy } from '@quittance/reconciliation/discrepancy';
import { type Said, say } from './output.ts';

/** Two lines for each: the invariant's name with its number, what is wrong, and what should hold. */
export const discrepancyLines = (discrepancies: readonly Discrepancy[]): Said[] =>
  discrepancies.map(
    ({ invariant, name, what, meaning }) => say`${name} (${invariant}): ${what}\n     (${meaning})\n`,
  );
