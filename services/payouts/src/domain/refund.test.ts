import { describe, expect, it } from '@jest/globals';
import { refundStatuses } from '@quittance/shared/events';
import { cents, ONE_DOLLAR, parseRate, type Rate, type RatePair, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import {
  countedStates,
  endedPayouts,
  LINK_VERSION_MAX,
  leftOf,
  limitsOf,
  type PaidInvoice,
  type Refunded,
  refundAmounts,
  refundMoves,
  stateAfterPayout,
  type WantedRefund,
} from './refund.ts';
import { CANCELLED, REJECTED } from './states.ts';

function rate(text: string): Rate {
  const parsed = parseRate(text);
  if (!parsed.ok) throw new Error(`no rate: ${text}`);
  return parsed.value;
}

/** Rates of now for an invoice in dollars. */
const inDollars = (text: string): RatePair => ({ rate: rate(text), fiatRate: ONE_DOLLAR });

/** 100 dollars at 2,500 dollars for an ether: 0.04 due; 0.05 paid. */
const FINNEY = 10n ** 15n;
const invoice: PaidInvoice = {
  due: units(40n * FINNEY),
  paid: units(50n * FINNEY),
  decimals: 18,
  rate: rate('2500'),
  fiatRate: ONE_DOLLAR,
};

/** What former refunds have taken, and those of the surplus. */
const taken = (all: bigint, surplus = 0n): Refunded => ({ all: units(all), surplus: units(surplus) });

describe('how much is refunded', () => {
  it.each([
    ['all that was paid', 'all', 0n, null, { share: 50n, amount: 50n }],
    ['all that former refunds have left', 'all', 20n, null, { share: 30n, amount: 30n }],
    ['the overpayment', 'surplus', 0n, null, { share: 10n, amount: 10n }],
    ['what former refunds have left of the overpayment', 'surplus', 4n, null, { share: 6n, amount: 6n }],
    ['an amount of dollars at the rate of the invoice', cents(2_500n), 0n, null, { share: 10n, amount: 10n }],
    ['the value of all at twice the rate', 'all', 0n, '5000', { share: 50n, amount: 25n }],
    ['an amount of dollars at half the rate', cents(2_500n), 0n, '1250', { share: 10n, amount: 20n }],
  ] as const)('is %s', (_, wanted, refunded, now, { share, amount }) => {
    const given = taken(refunded * FINNEY, wanted === 'surplus' ? refunded * FINNEY : 0n);
    expect(
      refundAmounts(invoice, given, wanted as WantedRefund, now === null ? null : inDollars(now)),
    ).toEqual({
      ok: true,
      value: { share: share * FINNEY, amount: amount * FINNEY },
    });
  });

  it.each([
    ['all was refunded before', 'all', 50n, 'nothing_left'],
    ['the chain took back more than is left', 'all', 60n, 'nothing_left'],
    ['the overpayment was refunded before', 'surplus', 10n, 'nothing_left'],
    ['it is a cent more than is left', cents(12_501n), 0n, 'too_large'],
    ['it is a cent more than former refunds have left', cents(2_501n), 40n, 'too_large'],
  ] as const)('is refused when %s', (_, wanted, refunded, problem) => {
    const given = taken(refunded * FINNEY, wanted === 'surplus' ? refunded * FINNEY : 0n);
    expect(refundAmounts(invoice, given, wanted as WantedRefund, null)).toEqual({
      ok: false,
      refusal: problem,
    });
  });

  it.each([
    ['is all that is left when one unit is', 'all', 50n * FINNEY - 1n, null, { share: 1n, amount: 1n }],
    [
      'is one unit when it is worth two at half the rate',
      'all',
      50n * FINNEY - 2n,
      '5000',
      { share: 2n, amount: 1n },
    ],
    ['is too small when it is worth less than a unit now', 'all', 50n * FINNEY - 1n, '5000', 'too_small'],
  ] as const)('%s', (_, wanted, refunded, now, expected) => {
    const found = refundAmounts(invoice, taken(refunded), wanted, now === null ? null : inDollars(now));
    expect(found.ok ? found.value : found.refusal).toEqual(expected);
  });

  it('is too small when it takes less than a unit of what was paid, whatever it is worth now', () => {
    const dear = { ...invoice, decimals: 0, rate: rate('2'), due: units(5n), paid: units(5n) };
    expect(refundAmounts(dear, taken(0n), cents(199n), null)).toEqual({ ok: false, refusal: 'too_small' });
    expect(refundAmounts(dear, taken(0n), cents(199n), inDollars('1'))).toEqual({
      ok: false,
      refusal: 'too_small',
    });
    expect(refundAmounts(dear, taken(0n), cents(200n), inDollars('2'))).toEqual({
      ok: true,
      value: { share: 1n, amount: 1n },
    });
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

  it('is an amount in euros at the rate of the euro that the invoice has', () => {
    const inEuros = { ...invoice, fiatRate: rate('1.25') };
    expect(refundAmounts(inEuros, taken(0n), cents(2_000n), null)).toEqual({
      ok: true,
      value: { share: 10n * FINNEY, amount: 10n * FINNEY },
    });
  });

  it('is at the rates of now worth as many euros as then', () => {
    const inEuros = { ...invoice, fiatRate: rate('1.25') };
    for (const wanted of [cents(2_000n), 'all'] as const) {
      const refunded = taken(wanted === 'all' ? 40n * FINNEY : 0n);
      const now = { rate: rate('5000'), fiatRate: rate('1.5') };
      expect(refundAmounts(inEuros, refunded, wanted, now)).toEqual({
        ok: true,
        value: { share: 10n * FINNEY, amount: 6n * FINNEY },
      });
    }
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
  const until = (expiresAt: Date | null) =>
    expiresAt === null ? null : { expiresAt, version: 2, ofDeposit: false };
  it.each([
    ['mined', later, 'completed'],
    ['mined', null, 'completed'],
    ['failed', later, 'claimable'],
    ['refused', later, 'claimable'],
    ['voided', later, 'claimable'],
    ['failed', now, 'expired'],
    ['failed', null, 'failed'],
    ['refused', null, 'voided'],
    ['voided', null, 'voided'],
  ] as const)('whose payout is %s, with a link until %p, is %s', (end, expiresAt, state) => {
    const payout = { status: end, isReverted: false, failedReason: end === 'failed' ? 'refused' : null };
    expect(stateAfterPayout(payout, until(expiresAt), now)).toBe(state);
    expect(refundMoves.pending).toContain(state);
  });

  it.each([later, now, null])(
    'whose payout has cost its fee, with a link until %p, has failed',
    (expiresAt) => {
      const payout = { status: 'failed', isReverted: true, failedReason: 'reverted' } as const;
      expect(stateAfterPayout(payout, until(expiresAt), now)).toBe('failed');
    },
  );

  it.each([
    [later, 'cancelled'],
    [now, 'cancelled'],
    [null, 'failed'],
  ] as const)('whose payout its merchant cancelled, with a link until %p, is %s', (expiresAt, state) => {
    for (const failedReason of [CANCELLED, REJECTED]) {
      const payout = { status: 'failed', isReverted: false, failedReason } as const;
      expect(stateAfterPayout(payout, until(expiresAt), now)).toBe(state);
    }
    expect(refundMoves.pending).toContain(state);
  });

  it('with a link ends after 50 attempts, each of which has changed it twice', () => {
    expect(LINK_VERSION_MAX).toBe(2 * 50);
  });

  it.each(['refused', 'voided'] as const)(
    'whose payout is %s was not cancelled by its merchant',
    (status) => {
      const payout = { status, isReverted: false, failedReason: CANCELLED };
      expect(stateAfterPayout(payout, until(later), now)).toBe('claimable');
    },
  );

  it.each([
    ['refused', LINK_VERSION_MAX - 1, false, 'claimable'],
    ['refused', LINK_VERSION_MAX, false, 'expired'],
    ['failed', LINK_VERSION_MAX, true, 'expired'],
    ['refused', 2, true, 'expired'],
    ['failed', 2, true, 'claimable'],
    ['voided', 2, true, 'claimable'],
  ] as const)(
    'whose payout is %s, in its version %p, of a deposit: %p, is %s',
    (status, version, ofDeposit, state) => {
      const payout = { status, isReverted: false, failedReason: null };
      expect(stateAfterPayout(payout, { expiresAt: later, version, ofDeposit }, now)).toBe(state);
    },
  );
});
