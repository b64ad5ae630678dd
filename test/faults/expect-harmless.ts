import { expect } from '@jest/globals';
import { notTried } from '@quittance/testkit/not-tried';
import type { Load } from './load.ts';
import { reportFault } from './table.ts';

/** What a suite finds out about one fault while it goes on. */
export type Findings = {
  /** How often it really happened. */
  fired: number;
  /** What it broke, in words. */
  violations: string[];
  /** At its slowest; undefined where nothing had to recover. */
  slowestRecoveryMs: number | undefined;
};

/** Notes a recovery that may have been the slowest. */
export function recovered(found: Findings, ms: number): void {
  found.slowestRecoveryMs = Math.max(found.slowestRecoveryMs ?? 0, ms);
}

/** In words; a function where only its end tells. */
type Name = string | (() => string);

/**
 * Goes through one fault, and expects that it happened and broke nothing. It is in the table also where `show` fails
 * half-way: that counts as a violation.
 */
export const expectHarmless = (
  group: string,
  fault: Name,
  show: (found: Findings) => Promise<void>,
): Promise<void> => expectAllHarmless(group, [fault], ([found]) => show(found as Findings));

/** The same of several that one run goes through: a line of the table each. */
export async function expectAllHarmless(
  group: string,
  faults: readonly Name[],
  show: (found: readonly Findings[]) => Promise<void>,
): Promise<void> {
  const all = faults.map((): Findings => ({ fired: 0, violations: [], slowestRecoveryMs: undefined }));
  try {
    await show(all);
  } catch (error) {
    const what = `it was not gone through: ${error instanceof Error ? error.message : error}`;
    for (const { violations } of all) violations.push(what);
    throw error;
  } finally {
    for (const [i, found] of all.entries()) {
      const name = faults[i] as Name;
      const fault = typeof name === 'string' ? name : name();
      // At once: jest tells it at the end of a suite, which may be hours away or never come.
      for (const violation of found.violations) process.stderr.write(`${group}: ${fault}: ${violation}\n`);
      reportFault({ group, ...found, fault, violations: found.violations.length });
    }
  }
  for (const found of all) expect(found.violations).toEqual([]);
  for (const found of all) expect(found.fired).toBeGreaterThan(0);
}

/** After all faults of a suite: what a merchant was told, compared with the chain and the ledger. */
export async function expectTrueWords(group: string, load: Load): Promise<ReturnType<Load['counts']>> {
  await expectHarmless(
    group,
    'after all of these: what clients were told, chain and books',
    async (found) => {
      found.violations.push(...(await load.finish()));
      const { accepted, refused, unknown } = load.counts();
      found.fired = accepted + refused + unknown;
    },
  );
  return load.counts();
}

/** Faults that this machine cannot have are skipped; the table says so, and why. */
export function faultsNotTried(group: string, faults: readonly string[], why: string): void {
  for (const fault of faults) {
    notTried(fault, why);
    reportFault({ group, fault, fired: 0, violations: 0, slowestRecoveryMs: undefined, notTried: why });
  }
}
