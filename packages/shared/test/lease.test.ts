import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { assertLease, type Lease, LeaseLost, releaseLease, takeLease } from '../src/lease.ts';

const db = (await suiteDatabase()).openAs('payouts');

test('one holds it, renews it under the same token, and gives it on with a higher one', async () => {
  const first = (await takeLease(db, 'engine', 'a', 60_000)) as Lease;
  expect(await takeLease(db, 'engine', 'b', 60_000)).toBeUndefined();
  expect(await takeLease(db, 'engine', 'a', 60_000)).toEqual(first);
  await releaseLease(db, first);
  const second = (await takeLease(db, 'engine', 'b', 60_000)) as Lease;
  expect(BigInt(second.token)).toBe(BigInt(first.token) + 1n);
});

test('who slept through the end of his lease cannot write any more', async () => {
  const sleeper = (await takeLease(db, 'wallet', 'sleeper', 50)) as Lease;
  await db.transaction((trx) => assertLease(trx, sleeper));
  const next = await eventually(async () => {
    const lease = await takeLease(db, 'wallet', 'next', 60_000);
    expect(lease).toBeDefined();
    return lease as Lease;
  });
  await expect(db.transaction((trx) => assertLease(trx, sleeper))).rejects.toThrow(LeaseLost);
  await db.transaction((trx) => assertLease(trx, next));
});

test('a hundred ask at once: one gets it', async () => {
  const got = await Promise.all(
    Array.from({ length: 100 }, (_, i) => takeLease(db, 'rush', `r${i}`, 60_000)),
  );
  expect(got.filter((lease) => lease !== undefined)).toHaveLength(1);
});
