import { describe, expect, it } from '@jest/globals';
import { refundStatuses } from '@quittance/shared/events';
import { cents, ONE_DOLLAR, type Rate, type RatePair, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import { aRate } from '@quittance/testkit/builders';
import fc from 'fast-check';
import {
  countedStates,
  endedPayouts,
  fiatWithin,
  LINK_VERSION_MAX,
  leftOf,
  limitsOf,
  type PaidInvoice,
  type Refunded,
  refundAmounts,
  refundMoves,
  stateAfterPayout,
  type WantedRefund,
  worthOfRefund,
} from './refund.ts';
import { CANCELLED, REJECTED } from './states.ts';

/** Rates of now for an invoice in dollars. */
const inDollars = (text: string): RatePair => ({ rate: aRate(text), fiatRate: ONE_DOLLAR });

/** 100 dollars at 2,500 dollars for an ether: 0.04 due; 0.05 paid. */
const FINNEY = 10n ** 15n;
const invoice: PaidInvoice = {
  due: units(40n * FINNEY),
  paid: units(50n * FINNEY),
  decimals: 18,
  rate: aRate('2500'),
  fiatRate: ONE_DOLLAR,
};

/** What former refunds have taken, and those of the surplus. */
const taken = (all: bigint, surplus = 0n): Refunded => ({ all: units(all), surplus: units(surplus) });

describe('how much is refunded', () => {
  const all = 50n * FINNEY;
  const dear = { ...invoice, decimals: 0, rate: aRate('2'), due: units(5n), paid: units(5n) };
  const dollars = cents(2_500n);
  const [four, six, ten] = [4n * FINNEY, 6n * FINNEY, 10n * FINNEY] as const;
  const euros = { ...invoice, fiatRate: aRate('1.25') };
  const euroNow: RatePair = { rate: aRate('5000'), fiatRate: aRate('1.5') };
  it.each<[string, PaidInvoice, WantedRefund, bigint, string | RatePair | null, unknown]>([
    ['is all that was paid', invoice, 'all', 0n, null, [all, all]],
    ['is all that former refunds have left', invoice, 'all', 4n * ten, null, [ten, ten]],
    ['is the overpayment', invoice, 'surplus', 0n, null, [ten, ten]],
    ['is what former refunds have left of the overpayment', invoice, 'surplus', four, null, [six, six]],
    ['is an amount of dollars at the rate of the invoice', invoice, dollars, 0n, null, [ten, ten]],
    ['is the value of all at twice the rate', invoice, 'all', 0n, '5000', [all, all / 2n]],
    ['is an amount of dollars at half the rate', invoice, dollars, 0n, '1250', [ten, 2n * ten]],
    ['is an amount in euros at the rate of the invoice', euros, cents(2_000n), 0n, null, [ten, ten]],
    ['is worth as many euros now as then', euros, cents(2_000n), 0n, euroNow, [ten, six]],
    ['is worth as many euros now as then, when it is all', euros, 'all', 4n * ten, euroNow, [ten, six]],
    ['is all that is left when one unit is', invoice, 'all', all - 1n, null, [1n, 1n]],
    ['is one unit when it is worth two at half the rate', invoice, 'all', all - 2n, '5000', [2n, 1n]],
    ['is one unit that costs as much as is refunded', dear, cents(200n), 0n, '2', [1n, 1n]],
    ['is too small when it is worth less than a unit now', invoice, 'all', all - 1n, '5000', 'too_small'],
    ['is too small when it takes less than a unit', dear, cents(199n), 0n, null, 'too_small'],
    ['is too small for that whatever it is worth now', dear, cents(199n), 0n, '1', 'too_small'],
    ['is refused when all was refunded before', invoice, 'all', all, null, 'nothing_left'],
    ['is refused when the chain took back more than is left', invoice, 'all', 6n * ten, null, 'nothing_left'],
    ['is refused when the overpayment was refunded before', invoice, 'surplus', ten, null, 'nothing_left'],
    ['is refused when it is a cent more than is left', invoice, cents(12_501n), 0n, null, 'too_large'],
    ['is refused when a cent less is left', invoice, cents(2_501n), 4n * ten, null, 'too_large'],
  ])('%s', (_, paid, wanted, refunded, now, expected) => {
    const given = taken(refunded, wanted === 'surplus' ? refunded : 0n);
    const found = refundAmounts(paid, given, wanted, typeof now === 'string' ? inDollars(now) : now);
    expect(found.ok ? [found.value.share, found.value.amount] : found.refusal).toEqual(expected);
  });

  it.each([
    [50n, 40n, 0n],
    [50n, 50n, 0n],
    [50n, 51n, 1n],
  ])('of the overpayment is limited: %p was due and %p was paid, so %p', (due, paid, limit) => {
    expect(limitsOf({ due: units(due), paid: units(paid) })).toEqual({ all: paid, surplus: limit });
  });

  it.each([
    ['all of it after a refund of an amount that was due', 25n, 0n, 10n],
    ['all of it after a refund of all that was due', 40n, 0n, 10n],
    ['what a refund of more than was due has left', 45n, 0n, 5n],
    ['what a former refund of it has left, whatever else was refunded', 29n, 4n, 6n],
    ['nothing after a refund of all', 50n, 0n, 0n],
    ['nothing after a refund of it', 10n, 10n, 0n],
  ])('of the overpayment is %s', (_, all, surplus, left) => {
    expect(leftOf(invoice, taken(all * FINNEY, surplus * FINNEY), 'surplus')).toBe(left * FINNEY);
  });

  it('is never more than is left or than it is worth, and at most one unit less', async () => {
    const rates = fc.bigInt(1n, 10n ** 24n).map((value) => value as Rate);
    const amounts = fc.bigInt(1n, 10n ** 27n).map(units);
    const wanted = fc.oneof(
      fc.constantFrom<WantedRefund>('all', 'surplus'),
      fc.bigInt(1n, 10n ** 14n).map(cents),
    );
    await assertProperty(
      fc.property(
        fc.record({
          due: amounts,
          paid: amounts,
          decimals: fc.integer({ min: 0, max: 18 }),
          rate: rates,
          fiatRate: rates,
        }),
        fc.record({ all: amounts, surplus: amounts }),
        wanted,
        fc.option(fc.record({ rate: rates, fiatRate: rates })),
        (paid, refunded, asked, now) => {
          const found = refundAmounts(paid, refunded, asked, now);
          if (!found.ok) return;
          const { share, amount } = found.value;
          expect(share + refunded.all).toBeLessThanOrEqual(paid.paid);
          expect(limitsOf(paid).surplus).toBeLessThanOrEqual(paid.paid);
          if (asked === 'surplus')
            expect(share + refunded.surplus).toBeLessThanOrEqual(limitsOf(paid).surplus);
          // Worth in the currency, of the request and of what is paid: both times the same.
          const at = now ?? paid;
          const hundredths = 100n * at.rate * paid.fiatRate;
          const requested =
            typeof asked === 'bigint'
              ? asked * 10n ** BigInt(paid.decimals) * at.fiatRate * paid.fiatRate
              : 100n * share * paid.rate * at.fiatRate;
          expect(amount * hundredths).toBeLessThanOrEqual(requested);
          expect((amount + 1n) * hundredths).toBeGreaterThan(requested);
          if (now === null) expect(amount).toBe(share);
        },
      ),
    );
  });
});

describe('what a refund is worth in the currency of its invoice', () => {
  const inEuros = { ...invoice, fiatRate: aRate('1.25'), currencyDecimals: 2 };
  const inYen = { ...invoice, fiatRate: aRate('0.0064'), currencyDecimals: 0 };
  const third = units((50n * FINNEY) / 3n);
  it.each([
    ['its value in euros', inEuros, 50n * FINNEY, 10_000n],
    ['rounded down to a cent', inEuros, third, 3_333n],
    ['rounded down to a whole yen, as the currency has no smaller part', inYen, 50n * FINNEY, 1_953_100n],
    ['nothing below the smallest part of the currency', inYen, 1n, 0n],
  ])('is %s', (_, paid, share, worth) => {
    expect(fiatWithin(paid, units(share))).toBe(worth);
    for (const wanted of ['all', 'surplus'] as const)
      expect(worthOfRefund(paid, wanted, units(share))).toBe(worth);
  });

  it('is the amount that was asked for, when it was one', () => {
    expect(worthOfRefund(inEuros, cents(3_334n), third)).toBe(3_334n);
  });
});

it('a refund moves between these states alone', () => {
  expect(refundMoves).toEqual({
    claimable: ['pending', 'expired', 'cancelled'],
    pending: ['completed', 'failed', 'claimable', 'expired', 'cancelled', 'voided'],
    ...{ completed: [], failed: [], expired: [], cancelled: [], voided: [] },
  });
  expect(refundStatuses).toEqual(Object.keys(refundMoves).filter((state) => state !== 'voided'));
  expect(countedStates).toEqual(['claimable', 'pending', 'completed']);
  expect(endedPayouts).toEqual(['mined', 'failed', 'refused', 'voided']);
});

describe('a pending refund', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const later = new Date('2026-01-02T00:00:00Z');
  const link = { expiresAt: later, version: 2, ofDeposit: false };
  const over = { ...link, expiresAt: now };
  it.each([
    ['mined', null, link, 'completed'],
    ['mined', null, null, 'completed'],
    ['failed', 'refused', link, 'claimable'],
    ['refused', null, link, 'claimable'],
    ['voided', null, link, 'claimable'],
    ['failed', 'refused', over, 'expired'],
    ['failed', 'refused', null, 'failed'],
    ['refused', null, null, 'voided'],
    ['voided', null, null, 'voided'],
    // Its merchant has cancelled or rejected the payout.
    ...[CANCELLED, REJECTED].flatMap((reason) => [
      ['failed', reason, link, 'cancelled'] as const,
      ['failed', reason, over, 'cancelled'] as const,
      ['failed', reason, null, 'failed'] as const,
    ]),
    // No merchant cancels what was never a payout.
    ['refused', CANCELLED, link, 'claimable'],
    ['voided', CANCELLED, link, 'claimable'],
    ['refused', null, { ...link, version: LINK_VERSION_MAX - 1 }, 'claimable'],
    ['refused', null, { ...link, version: LINK_VERSION_MAX }, 'expired'],
    ['failed', null, { ...link, version: LINK_VERSION_MAX, ofDeposit: true }, 'expired'],
    ['refused', null, { ...link, ofDeposit: true }, 'expired'],
    ['failed', null, { ...link, ofDeposit: true }, 'claimable'],
    ['voided', null, { ...link, ofDeposit: true }, 'claimable'],
  ] as const)(
    'whose payout is %s because of %p, with the link %j, is %s',
    (status, failedReason, of, state) => {
      expect(stateAfterPayout({ status, isReverted: false, failedReason }, of, now)).toBe(state);
      expect(refundMoves.pending).toContain(state);
    },
  );

  it.each([link, over, null])('whose payout has cost its fee, with the link %j, has failed', (of) => {
    const payout = { status: 'failed', isReverted: true, failedReason: 'reverted' } as const;
    expect(stateAfterPayout(payout, of, now)).toBe('failed');
  });

  it('with a link ends after 50 attempts, each of which has changed it twice', () => {
    expect(LINK_VERSION_MAX).toBe(2 * 50);
  });
});
