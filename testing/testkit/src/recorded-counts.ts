import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Counts that are committed, to be compared with those of today: what grows is seen in a test, and what shrinks is recorded, so
 * that it does not grow back. `RECORD_COUNTS=1` writes those of today.
 */
export function recordedCounts<T extends object>(file: URL, today: T): T {
  if (process.env['RECORD_COUNTS'] === '1') writeFileSync(file, `${JSON.stringify(today, null, 2)}\n`);
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
