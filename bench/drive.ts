import { performance } from 'node:perf_hooks';
import { sleep } from '@quittance/shared/clock';
import type { Sample } from './benchmark.ts';

/** Calls `once` from `clients` callers at a time, each waiting for its answer, for `seconds`. The figure is calls per second. */
export async function drive(
  once: (client: number) => Promise<unknown>,
  clients: number,
  seconds: number,
): Promise<Sample> {
  const times: number[] = [];
  const begun = performance.now();
  const end = begun + seconds * 1_000;
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      while (performance.now() < end) {
        const start = performance.now();
        await once(client);
        times.push(performance.now() - start);
      }
    }),
  );
  const took = (performance.now() - begun) / 1_000;
  return { figure: times.length / took, operations: times.length, ...percentiles(times) };
}

/**
 * Calls `once` at a steady rate, whether the calls before are answered or not. A call that begins late counts from when it
 * should have begun, so that a stall shows in all calls that it delayed.
 */
export async function driveAtRate(
  once: () => Promise<unknown>,
  perSecond: number,
  seconds: number,
): Promise<Sample> {
  const times: number[] = [];
  const total = Math.round(perSecond * seconds);
  const begun = performance.now();
  const calls: Promise<void>[] = [];
  for (let next = 0; next < total; ) {
    const due = Math.min(total, 1 + Math.floor(((performance.now() - begun) / 1_000) * perSecond));
    for (; next < due; next++) {
      const start = begun + (next * 1_000) / perSecond;
      calls.push(once().then(() => void times.push(performance.now() - start)));
    }
    await sleep(1);
  }
  await Promise.all(calls);
  const took = (performance.now() - begun) / 1_000;
  return { figure: times.length / took, operations: times.length, ...percentiles(times) };
}

/** Sorts the times. */
export function percentiles(times: number[]): { p50Ms: number; p95Ms: number; p99Ms: number } {
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[(values.length - 1) >> 1] ?? 0;
