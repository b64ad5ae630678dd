import { describe, expect, it } from '@jest/globals';
import { Chance } from './chance.ts';
import { chances, type Fault, faults, Weather } from './weather.ts';

const STORIES = 2_000;

/** Stories that give every kind as many chances as most do. */
function struckIn(stories: number, isFair = false): Map<Fault, number>[] {
  return Array.from({ length: stories }, (_, seed) => {
    const weather = new Weather(new Chance(seed), isFair);
    for (const fault of faults) for (let i = 0; i < chances[fault]; i++) weather.strikes(fault);
    return new Map(weather.struck);
  });
}

describe('the weather', () => {
  it('spares few stories, and strikes with what has few chances as with what has many', () => {
    const stories = struckIn(STORIES);
    expect(stories.filter((struck) => struck.size === 0).length).toBeLessThan(STORIES / 20);
    const times = faults.map((fault) => stories.filter((struck) => struck.has(fault)).length);
    expect(Math.min(...times)).toBeGreaterThan(STORIES / 10);
    expect(Math.max(...times)).toBeLessThan(1.5 * Math.min(...times));
  });

  it('is calm when it is told to be, and fair where nothing is to go wrong', () => {
    const weather = new Weather(new Chance(1), false);
    weather.isCalm = true;
    for (const fault of faults)
      for (let i = 0; i < chances[fault]; i++) expect(weather.strikes(fault)).toBe(false);
    expect(struckIn(50, true).every((struck) => struck.size === 0)).toBe(true);
  });
});
