import { performance } from 'node:perf_hooks';

export type Measured = { perSecond: number; p50Ms: number; p99Ms: number };

/** Calls `once` from `clients` callers at a time, each waiting for its answer, for `seconds`. */
export async function drive(
  once: (client: number) => Promise<void>,
  clients: number,
  seconds: number,
): Promise<Measured> {
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
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: times.length / took, p50Ms: at(0.5), p99Ms: at(0.99) };
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[(values.length - 1) >> 1] ?? 0;
