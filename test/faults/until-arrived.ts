import { invariants } from '@quittance/reconciliation/invariants';
import { eventually } from '@quittance/testkit/eventually';
import type { Quittance } from '@quittance/testkit/quittance';

/** Waits until every event sent by now has reached its receivers. Returns the milliseconds that took. */
export async function untilArrived(
  { db }: Pick<Quittance, 'db'>,
  since: Date,
  withinMs: number,
): Promise<number> {
  const arrivals = invariants.find(({ number }) => number === 'I7');
  if (arrivals === undefined) throw new Error('there is no invariant I7');
  const began = performance.now();
  await eventually(
    async () => {
      const seconds = Math.floor((Date.now() - since.getTime()) / 1_000);
      const [one] = await db.rows<{ what: string }>(arrivals.sql, [seconds]);
      if (one !== undefined) throw new Error(one.what);
    },
    withinMs,
    250,
  );
  return performance.now() - began;
}
