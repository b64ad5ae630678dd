import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { notTried } from '@quittance/testkit/not-tried';
import { startPostgres } from '../src/postgres.ts';
import { findPlace } from '../src/postgres-place.ts';
import { scratchFolder } from './scratch.ts';

const scratch = scratchFolder();
const asRoot = process.getuid?.() === 0;

afterAll(() => scratch.remove());

test('Postgres runs in place as an ordinary user, and as another user where we are root', () => {
  const dataDir = path.join(scratch.folder, 'data');
  const { user, dataDir: placed } = findPlace(dataDir);
  expect(placed).toBe(dataDir);
  if (asRoot) expect(user?.uid).toBeGreaterThan(0);
  else expect(user).toBeUndefined();
});

const AS_ROOT = 'as root, what Postgres cannot reach is kept elsewhere, and goes with it';
// An ordinary user's Postgres is that user, and enters where the user does.
if (!asRoot) notTried(AS_ROOT, 'an ordinary user runs the tests');
else
  test(AS_ROOT, async () => {
    const secret = path.join(scratch.folder, 'secret');
    const dataDir = path.join(secret, 'data');
    const options = { dataDir, port: 0, settings: { fsync: 'off' } };
    findPlace(dataDir);
    chmodSync(secret, 0o700);

    const postgres = await startPostgres(options);
    await postgres.stop();
    const again = await startPostgres(options);
    await again.stop();

    expect(postgres.dataDir).not.toBe(dataDir);
    const signpost = readFileSync(path.join(dataDir, 'WHERE-THE-DATA-IS.txt'), 'utf8');
    expect(signpost).toContain(path.dirname(postgres.dataDir));
    expect(statSync(postgres.dataDir).mode & 0o777).toBe(0o700);
    // The same data, so the same password.
    expect(again.url.split('@')[0]).toBe(postgres.url.split('@')[0]);

    rmSync(secret, { recursive: true });
    findPlace(path.join(scratch.folder, 'next'));
    expect(existsSync(path.dirname(postgres.dataDir))).toBe(false);
  });
