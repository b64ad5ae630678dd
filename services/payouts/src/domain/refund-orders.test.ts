import { expect, it } from '@jest/globals';
import { cents, ONE_DOLLAR, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { limitsOf, type PaidInvoice, refundAmounts, type WantedRefund } from './refund.ts';

/** Refunds one after the other; a refusal takes nothing. */
function refundInOrder(paid: PaidInvoice, wanted: readonly WantedRefund[]) {
  const refunded = { all: 0n, surplus: 0n };
  for (const one of wanted) {
    const found = refundAmounts(
      paid,
      { all: units(refunded.all), surplus: units(refunded.surplus) },
      one,
      null,
    );
    if (!found.ok) continue;
    refunded.all += found.value.share;
    if (one === 'surplus') refunded.surplus += found.value.share;
  }
  return refunded;
}
const sum = (all: readonly bigint[]) => all.reduce((total, one) => total + one, 0n);
const paidInCents = fc
  .record({ due: fc.bigInt(1n, 1_000n), paid: fc.bigInt(1n, 2_000n) })
  .map(({ due, paid }) => ({
    ...{ due: units(due), paid: units(paid), decimals: 2, rate: ONE_DOLLAR, fiatRate: ONE_DOLLAR },
  }));

it('refunds are never more than was paid, in whatever order', async () => {
  const wanted = fc.oneof(fc.constantFrom<WantedRefund>('all', 'surplus'), fc.bigInt(1n, 1_000n).map(cents));
  await assertProperty(
    fc.property(paidInCents, fc.array(wanted), (paid, orders) => {
      const { all, surplus } = refundInOrder(paid, orders);
      expect(all).toBeLessThanOrEqual(paid.paid);
      expect(surplus).toBeLessThanOrEqual(limitsOf(paid).surplus);
      if (orders.includes('all')) expect(all).toBe(paid.paid);
    }),
  );
});

it('the surplus that is refunded is the same in whatever order, where amounts take no more than was due', async () => {
  const given = fc.tuple(paidInCents, fc.array(fc.bigInt(1n, 500n).map(cents))).chain(([paid, amounts]) =>
    fc.record({
      paid: fc.constant(paid),
      amounts: fc.constant(amounts),
      orders: fc.shuffledSubarray<WantedRefund>([...amounts, 'surplus', 'surplus'], {
        minLength: amounts.length + 2,
      }),
    }),
  );
  await assertProperty(
    fc.property(given, ({ paid, amounts, orders }) => {
      const { surplus } = limitsOf(paid);
      fc.pre(sum(amounts) <= paid.paid - surplus);
      expect(refundInOrder(paid, orders)).toEqual({ all: sum(amounts) + surplus, surplus });
    }),
  );
});
