import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { recordedCounts } from '@quittance/testkit/recorded-counts';
import { root } from './tracked-files.ts';

/** Two runs differ by less than half of this. */
const NOISE = 1.01;
/** Larger than all that is allocated, and no compiler: see hot-path.ts. */
const FLAGS = [
  ...['--min-semi-space-size=128', '--max-semi-space-size=128'],
  ...['--no-opt', '--no-maglev', '--no-sparkplug', '--disable-warning=ExperimentalWarning'],
];

test('what every request, event and webhook takes allocates no more than is recorded', () => {
  const { stdout, stderr } = spawnSync(process.execPath, [...FLAGS, join(root, 'tools/hot-path.ts')], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const today = JSON.parse(stdout) as Record<string, number>;
  const recorded = recordedCounts(new URL('allocations.json', import.meta.url), today);
  expect(Object.keys(today)).toEqual(Object.keys(recorded));
  const grown = Object.entries(today).filter(([name, bytes]) => bytes > NOISE * (recorded[name] ?? 0));
  expect(grown).toEqual([]);
});
