import { expect, it, test } from '@jest/globals';
import {
  CHOSEN_VERSION,
  choiceEndsAt,
  choiceMarginMs,
  choiceTimeOf,
  decideChoice,
  decideUnchosenCancellation,
  type UnchosenInvoice,
} from './unchosen-invoice.ts';

const createdAt = new Date('2026-03-01T12:00:00.000Z');
const after = (seconds: number) => new Date(createdAt.getTime() + seconds * 1_000);
const invoice = (seconds: number | null, status: 'pending' | 'expired' = 'pending') => ({
  ...{ status, createdAt, assets: ['ETH'] as const },
  expiresAt: seconds === null ? null : after(seconds),
});

it.each([
  [3_600, 3_540],
  [120, 60],
  // Of a shorter time half is left to pay.
  [90, 45],
  [60, 30],
  [null, null],
])('of an invoice of %p seconds the asset may be chosen for %p', (seconds, last) => {
  expect(choiceEndsAt(invoice(seconds))).toEqual(last === null ? null : after(last));
});

it('of an odd time the larger half is left to pay, and an invoice that never expires needs none', () => {
  expect(choiceMarginMs(invoice(0.003))).toBe(2);
  expect(choiceMarginMs(invoice(null))).toBe(0);
});

it.each([
  [0, 'open'],
  [3_539.999, 'open'],
  [3_540, 'too_late'],
  [3_599.999, 'too_late'],
  [3_600, 'expired'],
] as const)('of an invoice of an hour a choice after %p seconds is %s', (seconds, time) => {
  expect(choiceTimeOf(invoice(3_600), after(seconds))).toBe(time);
  expect(choiceTimeOf(invoice(3_600, 'expired'), after(seconds))).toBe('expired');
  expect(decideChoice(invoice(3_600), 'ETH', after(seconds))).toEqual(
    time === 'open' ? { ok: true, value: 'ETH' } : { ok: false, refusal: time },
  );
});

it('an invoice that never expires can be chosen for ever', () => {
  expect(choiceTimeOf(invoice(null), after(1e9))).toBe('open');
});

it.each(['SOL', 'eth', '', 'BTC,ETH'])('the asset of an invoice is none that is not offered: %p', (text) => {
  expect(decideChoice(invoice(null), text, createdAt)).toEqual({ ok: false, refusal: 'not_offered' });
});

it('the asset of an invoice is chosen in the version after the first', () => {
  expect(CHOSEN_VERSION).toBe(2);
});

type Status = UnchosenInvoice['status'];
const [earlier, at, later] = [createdAt, after(1), after(2)];

test.each<[Status, Date | null, Date | null, unknown]>([
  ['pending', null, null, { ok: true, value: { cancelledAt: at, expiresAt: at } }],
  ['pending', later, null, { ok: true, value: { cancelledAt: at, expiresAt: at } }],
  // It has expired, and nothing has stored it yet.
  ['pending', earlier, null, { ok: true, value: { cancelledAt: at, expiresAt: earlier } }],
  ['expired', earlier, null, { ok: false, refusal: 'expired' }],
  ['expired', earlier, earlier, { ok: true, value: undefined }],
  ['pending', null, earlier, { ok: true, value: undefined }],
])(
  'the cancellation of an invoice that is %s until %p and was cancelled at %p is %p',
  (status, expiresAt, cancelledAt, decided) => {
    expect(decideUnchosenCancellation({ status, expiresAt, cancelledAt }, at)).toEqual(decided);
  },
);
