import { setTimeout as sleep } from 'node:timers/promises';
import type { Merchant } from '@quittance/testkit/merchant';

/** What those saw who read all the time. A status of 0 is a request without any answer. */
export type Looks = { statuses: Map<number, number>; tookMs: number[] };

/** Often enough for a hundred answers a second, and seldom enough to leave the machine to who is looked at. */
const PAUSE_MS = 40;

/** What nineteen of twenty requests took at most: one may have met a machine that was busy with other things. */
export function slowMs({ tookMs }: Looks): number {
  const sorted = tookMs.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? 0;
}

const READ = ['/api/balances', '/api/invoices', '/api/payouts', '/api/assets'];

/** Several who read all the time, as long as `during` takes. */
export async function lookingOn(merchant: Merchant, during: () => Promise<unknown>): Promise<Looks> {
  const looks: Looks = { statuses: new Map(), tookMs: [] };
  let over = false;
  const loops = READ.map(async (path) => {
    while (!over) {
      const began = performance.now();
      const status = await merchant.get(path).then(
        (answer) => answer.status,
        () => 0,
      );
      looks.tookMs.push(performance.now() - began);
      looks.statuses.set(status, (looks.statuses.get(status) ?? 0) + 1);
      await sleep(PAUSE_MS);
    }
  });
  await during().finally(() => {
    over = true;
  });
  await Promise.all(loops);
  return looks;
}

/** What they saw that nobody may see. */
export function unseemly({ statuses }: Pick<Looks, 'statuses'>, allowed: readonly number[]): string[] {
  return [...statuses]
    .filter(([status]) => !allowed.includes(status))
    .map(([status, n]) => `${n} times a reader was answered ${status}`);
}
