import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAnswer, Merchant } from '@quittance/testkit/merchant';
import type { LogLines } from './log-lines.ts';

/** What those saw who read all the time. A status of 0 is a request without any answer. */
export type Looks = {
  statuses: Map<number, number>;
  /** The ids of the requests that were answered by something else than 200, by what: the first of each. */
  requestIds: Map<number, string>;
  tookMs: number[];
};

/** Often enough for a hundred answers a second, and seldom enough to leave the machine to who is looked at. */
const PAUSE_MS = 40;

/** What nineteen of twenty requests took at most: one may have met a machine that was busy with other things. */
export function slowMs({ tookMs }: Looks): number {
  const sorted = tookMs.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? 0;
}

const READ = ['/api/balances', '/api/invoices', '/api/payouts', '/api/assets'];

const NO_ANSWER: Pick<ApiAnswer, 'status' | 'headers'> = { status: 0, headers: {} };

/** Several who read all the time, as long as `during` takes. */
export async function lookingOn(merchant: Merchant, during: () => Promise<unknown>): Promise<Looks> {
  const looks: Looks = { statuses: new Map(), requestIds: new Map(), tookMs: [] };
  let over = false;
  const loops = READ.map(async (path) => {
    while (!over) {
      const began = performance.now();
      const { status, headers } = await merchant.get(path).catch(() => NO_ANSWER);
      looks.tookMs.push(performance.now() - began);
      looks.statuses.set(status, (looks.statuses.get(status) ?? 0) + 1);
      const id = headers['x-request-id'];
      if (status !== 200 && typeof id === 'string' && !looks.requestIds.has(status))
        looks.requestIds.set(status, id);
      await sleep(PAUSE_MS);
    }
  });
  await during().finally(() => {
    over = true;
  });
  await Promise.all(loops);
  return looks;
}

/** What they saw that nobody may see, and what the services' logs say of the first request of each kind. */
export function unseemly(
  { statuses, requestIds }: Pick<Looks, 'statuses'> & Partial<Looks>,
  allowed: readonly number[],
  logs?: Pick<LogLines, 'about'>,
): string[] {
  return [...statuses]
    .filter(([status]) => !allowed.includes(status))
    .map(([status, n]) => {
      const first = requestIds?.get(status);
      const said = first === undefined ? [] : (logs?.about(first) ?? []);
      return [`${n} times a reader was answered ${status}`, ...said].join('\n  ');
    });
}
