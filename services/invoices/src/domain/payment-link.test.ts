import { describe, expect, it, test } from '@jest/globals';
import { newPaymentLinkId } from '@quittance/shared/ids';
import { cents } from '@quittance/shared/money';
import {
  brokenLimit,
  type CountedLink,
  decidePayment,
  isAttempt,
  isPaymentLinkId,
  linkStatuses,
  linkStatusOf,
  MAX_OPEN_DEFAULT,
  MAX_OPEN_MAX,
  newAttempt,
  typedAmount,
} from './payment-link.ts';

const now = new Date('2026-01-02T00:00:00.000Z');
const before = new Date(now.getTime() - 1);
const after = new Date(now.getTime() + 1);

const moments = [
  [null, null, 'active'],
  [after, null, 'active'],
  [now, null, 'expired'],
  [before, null, 'expired'],
  [null, before, 'deactivated'],
  [before, before, 'deactivated'],
  // Whenever it was: it is not undone.
  [after, after, 'deactivated'],
] as const;

test.each(moments)(
  'a link that is valid until %p and was deactivated at %p is %s',
  (validUntil, deactivatedAt, status) => {
    expect(linkStatusOf({ validUntil, deactivatedAt }, now)).toBe(status);
  },
);

test('a link has each status at some time', () => {
  expect(new Set(linkStatuses)).toEqual(new Set(moments.map(([, , status]) => status)));
});

test.each([
  [0, null, { ok: true, value: undefined }],
  [99, null, { ok: true, value: undefined }],
  [100, null, { ok: false, refusal: 'full' }],
  [101, null, { ok: false, refusal: 'full' }],
  [0, now, { ok: false, refusal: 'ended' }],
  [100, now, { ok: false, refusal: 'ended' }],
] as const)(
  'a payment of a link with %p of 100 open invoices, valid until %p, is decided as %p',
  (openInvoices, validUntil, decision) => {
    const link = { openInvoices, maxOpen: 100, validUntil, deactivatedAt: null } as CountedLink;
    expect(decidePayment(link, now)).toEqual(decision);
  },
);

test('a link has a hundred open invoices unless it says otherwise, and ten thousand at most', () => {
  expect([MAX_OPEN_DEFAULT, MAX_OPEN_MAX]).toEqual([100, 10_000]);
});

test('a filled-in form is named by 16 random bytes', () => {
  const attempt = newAttempt((bytes) => new Uint8Array(bytes).fill(255));
  expect(Buffer.from(attempt, 'base64url')).toEqual(Buffer.alloc(16, 255));
  expect(isAttempt(attempt)).toBe(true);
});

describe('an open amount', () => {
  const within = (min: bigint | null, max: bigint | null) => ({
    amountMin: min === null ? null : cents(min),
    amountMax: max === null ? null : cents(max),
  });
  it.each([
    [within(500n, 1_000n), 499n, { rule: 'atLeast', limit: 500n }],
    [within(500n, 1_000n), 500n, undefined],
    [within(500n, 1_000n), 1_000n, undefined],
    [within(500n, 1_000n), 1_001n, { rule: 'atMost', limit: 1_000n }],
    [within(null, 1_000n), 0n, undefined],
    [within(null, 1_000n), 1_001n, { rule: 'atMost', limit: 1_000n }],
    [within(500n, null), 499n, { rule: 'atLeast', limit: 500n }],
    [within(500n, null), 10n ** 18n, undefined],
    [within(null, null), 0n, undefined],
    [within(null, null), -1n, undefined],
  ])('within %p is checked: %p', (limits, amount, broken) => {
    expect(brokenLimit(limits, cents(amount))).toEqual(broken);
  });
});

test.each([
  [newPaymentLinkId(), true],
  [`plink_${'0a'.repeat(18)}`, true],
  [`plink_${'0'.repeat(35)}`, false],
  [`plink_${'0'.repeat(37)}`, false],
  [`xplink_${'0'.repeat(36)}`, false],
  [`plink_${'A'.repeat(36)}`, false],
  [`inv_${'0'.repeat(36)}`, false],
  ['', false],
])('whether %p names a payment link is %p', (text, isId) => {
  expect(isPaymentLinkId(text)).toBe(isId);
});

it.each([
  ['12.50', '12.50'],
  [' 12,50 ', '12.50'],
  ['12,5', '12.5'],
  ['1000', '1000'],
  ['1,000', 'ambiguous'],
  ['1.000', 'ambiguous'],
  ['1234,567', 'ambiguous'],
  ['1.500', 'ambiguous'],
  ['12.345', '12.345'],
  ['1,234.50', '1234.50'],
  ['1.234,50', '1234.50'],
  ['1,234,567', '1234567'],
  ['1,23,456.00', '1,23,456.00'],
  ['12,', '12,'],
  ['12,505.5,5', '12,505.5,5'],
  ['-12,50', '-12,50'],
  ['1e3', '1e3'],
  ['', ''],
])('an amount that is typed as "%s" is read as "%s"', (typed, read) => {
  expect(typedAmount(typed)).toBe(read);
});
