import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import type { ChainKind } from '@quittance/shared/assets';
import { type Report, runTasks } from './runner.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const run = promisify(execFile);

/** In a process of its own: what Postgres in WASM remembers of one seed could hide what another forgot. */
async function tell(chain: string, seed: number): Promise<string> {
  const { stdout } = await run(process.execPath, [MAIN, '--chain', chain, '--seed', String(seed)], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

it.each([
  ['ethereum', 11],
  ['bitcoin', 12],
  ['solana', 13],
])('a seed of %s takes the same steps in every process', async (chain, seed) => {
  const [one, other] = await Promise.all([tell(chain, seed), tell(chain, seed)]);
  expect(one).toMatch(/\nseed \d+: \d+ statements, \d+ turns, trace [0-9a-f]+\n/);
  expect(one).toContain('=== quiesced');
  expect(other).toBe(one);
});

const SEEDS = 150;

/**
 * What comes before a seed in its process (rows that are left behind, plans, statistics, answers that are remembered)
 * is no part of its scenario.
 */
it('a seed takes the same steps whichever seeds ran before it', async () => {
  const kinds: readonly ChainKind[] = ['evm', 'bitcoin', 'solana'];
  await Promise.all(
    kinds.map(async (kind) => {
      const tasks = [false, true].map((isBackward) => ({
        kind,
        from: 1,
        count: SEEDS,
        isBackward,
        doubts: isBackward,
      }));
      const reports: Report[] = [];
      await runTasks(
        1,
        () => tasks.shift(),
        (report) => void reports.push(report),
      );
      const [forward, backward] = reports.map(({ hashes }) => hashes);
      expect(reports.flatMap(({ found }) => found)).toEqual([]);
      expect(forward).toHaveLength(SEEDS);
      expect(backward?.toReversed()).toEqual(forward);
    }),
  );
});

it('another seed takes other steps', async () => {
  const traces = await Promise.all([tell('ethereum', 14), tell('ethereum', 15)]);
  const [one, other] = traces.map((scenario) => /trace ([0-9a-f]+)/.exec(scenario)?.[1]);
  expect(one).not.toBe(other);
});
