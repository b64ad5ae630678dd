import { describe, expect, it } from '@jest/globals';
import { Chance } from './chance.ts';
import { chances, type Fault, FaultInjector, faultKinds } from './faults.ts';

const SCENARIOS = 2_000;

/** Scenarios that give every kind as many chances as most do. */
function struckIn(scenarios: number, isFair = false): Map<Fault, number>[] {
  return Array.from({ length: scenarios }, (_, seed) => {
    const faults = new FaultInjector(new Chance(seed), isFair);
    for (const fault of faultKinds) for (let i = 0; i < chances[fault]; i++) faults.strikes(fault);
    return new Map(faults.struck);
  });
}

describe('the fault injector', () => {
  it('leaves few scenarios without a fault, and injects rare kinds as often as frequent ones', () => {
    const scenarios = struckIn(SCENARIOS);
    expect(scenarios.filter((struck) => struck.size === 0).length).toBeLessThan(SCENARIOS / 20);
    const times = faultKinds.map((fault) => scenarios.filter((struck) => struck.has(fault)).length);
    expect(Math.min(...times)).toBeGreaterThan(SCENARIOS / 10);
    expect(Math.max(...times)).toBeLessThan(1.5 * Math.min(...times));
  });

  it('injects nothing when it is quiesced or when a scenario is to run without faults', () => {
    const faults = new FaultInjector(new Chance(1), false);
    faults.isQuiesced = true;
    for (const fault of faultKinds)
      for (let i = 0; i < chances[fault]; i++) expect(faults.strikes(fault)).toBe(false);
    expect(struckIn(50, true).every((struck) => struck.size === 0)).toBe(true);
  });
});
