import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const SERVICE = fileURLToPath(new URL('./lifecycle-process.ts', import.meta.url));
const DRAIN_MS = 10_000;

async function stubborn() {
  const child = spawn(process.execPath, [SERVICE], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return { child, ended: once(child, 'exit') };
}

test('what does not end when it is told to is ended after ten seconds, and at once when it is told again', async () => {
  const [patient, impatient] = await Promise.all([stubborn(), stubborn()]);
  const toldAt = performance.now();
  patient.child.kill('SIGTERM');
  impatient.child.kill('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect([patient.child.exitCode, impatient.child.exitCode]).toEqual([null, null]);
  const toldAgainAt = performance.now();
  impatient.child.kill('SIGTERM');
  expect(await impatient.ended).toEqual([1, null]);
  expect(performance.now() - toldAgainAt).toBeLessThan(DRAIN_MS / 2);
  expect(await patient.ended).toEqual([1, null]);
  expect(performance.now() - toldAt).toBeGreaterThan(DRAIN_MS - 100);
  expect(performance.now() - toldAt).toBeLessThan(DRAIN_MS + 20_000);
});
