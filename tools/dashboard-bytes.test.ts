import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { recordedCounts } from '@quittance/testkit/recorded-counts';
import { root } from './tracked-files.ts';

/** Small changes need no word. */
const STEP_KB = 5;
const built = join(root, 'apps/dashboard/dist');
const kilobytes = (bytes: number) => Math.ceil(bytes / 1_000 / STEP_KB) * STEP_KB;

test('the dashboard is no larger on the wire than is recorded', () => {
  const index = readFileSync(join(built, 'index.html'), 'utf8');
  const first = [...index.matchAll(/\/dashboard\/(assets\/[^"]+)"/g)].map(([, file]) => file ?? '');
  const scripts = readdirSync(join(built, 'assets')).filter((name) => /\.(?:js|css)$/.test(name));
  const size = (file: string) => statSync(join(built, `${file}.br`)).size;
  const sizes = new Map(scripts.map((name) => [`assets/${name}`, size(`assets/${name}`)]));
  const sum = (files: Iterable<string>) => [...files].reduce((all, file) => all + (sizes.get(file) ?? 0), 0);
  expect(first.length).toBeGreaterThan(2);
  const today = {
    'kB before the first page shows': kilobytes(sum(first)),
    'kB of all pages': kilobytes(sum(sizes.keys())),
  };
  const recorded = recordedCounts(new URL('dashboard-bytes.json', import.meta.url), today);
  expect(Object.keys(today)).toEqual(Object.keys(recorded));
  for (const [name, value] of Object.entries(today))
    expect([name, Math.max(value, recorded[name as keyof typeof today])]).toEqual([
      name,
      recorded[name as keyof typeof today],
    ]);
});
