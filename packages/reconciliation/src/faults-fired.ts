import type { Discrepancy } from './discrepancy.ts';

/** A fault that a test planned, and how often it really happened. */
export type PlannedFault = { name: string; fired: number };

/** A test whose fault never happened has shown nothing. */
export function faultsFired(planned: readonly PlannedFault[]): Discrepancy[] {
  return planned
    .filter(({ fired }) => fired < 1)
    .map(({ name }) => ({
      invariant: 'I12',
      name: 'planned-faults-happen',
      meaning: 'the fault that a test planted really happened',
      what: `${name} was planned and never happened`,
      subject: name,
      pausesPayouts: false,
    }));
}
