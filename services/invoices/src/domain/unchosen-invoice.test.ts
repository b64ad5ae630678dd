import { describe, expect, it, test } from '@jest/globals';
import {
  CHOSEN_VERSION,
  decideChoice,
  decideUnchosenCancellation,
  isChoosable,
  type UnchosenInvoice,
} from './unchosen-invoice.ts';

const now = new Date('2026-01-02T00:00:00.000Z');
const before = new Date(now.getTime() - 1);
const after = new Date(now.getTime() + 1);
type Status = UnchosenInvoice['status'];

describe('the asset of an invoice', () => {
  it.each<[Status, Date | null, boolean]>([
    ['pending', null, true],
    ['pending', after, true],
    ['pending', now, false],
    ['pending', before, false],
    ['expired', after, false],
    ['expired', null, false],
  ])('that is %s and expires at %p can be chosen: %p', (status, expiresAt, canBe) => {
    expect(isChoosable({ status, expiresAt }, now)).toBe(canBe);
    const found = decideChoice({ status, expiresAt, assets: ['BTC', 'ETH'] }, 'ETH', now);
    expect(found).toEqual(canBe ? { ok: true, value: 'ETH' } : { ok: false, refusal: 'expired' });
  });

  it.each(['SOL', 'eth', '', 'BTC,ETH'])('is none that is not offered: %p', (text) => {
    const found = decideChoice({ status: 'pending', expiresAt: null, assets: ['BTC', 'ETH'] }, text, now);
    expect(found).toEqual({ ok: false, refusal: 'not_offered' });
  });

  it('is chosen in the version after the first', () => {
    expect(CHOSEN_VERSION).toBe(2);
  });
});

test.each<[Status, Date | null, Date | null, unknown]>([
  ['pending', null, null, { ok: true, value: { cancelledAt: now, expiresAt: now } }],
  ['pending', after, null, { ok: true, value: { cancelledAt: now, expiresAt: now } }],
  // It has expired, and nothing has stored it yet.
  ['pending', before, null, { ok: true, value: { cancelledAt: now, expiresAt: before } }],
  ['expired', before, null, { ok: false, refusal: 'expired' }],
  ['expired', before, before, { ok: true, value: undefined }],
  ['pending', null, before, { ok: true, value: undefined }],
])(
  'the cancellation of an invoice that is %s until %p and was cancelled at %p is %p',
  (status, expiresAt, cancelledAt, decided) => {
    expect(decideUnchosenCancellation({ status, expiresAt, cancelledAt }, now)).toEqual(decided);
  },
);
