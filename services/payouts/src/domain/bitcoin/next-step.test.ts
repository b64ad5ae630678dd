import { describe, expect, test } from '@jest/globals';
import { mostFor, nextBitcoinStep, nextFeeRate, type OpenBitcoinGroup } from './next-step.ts';

const now = new Date('2026-01-01T12:00:00Z');
const gracePeriods = { resendAfterMs: 5_000 };
const ago = (ms: number) => new Date(now.getTime() - ms);

type Attempt = OpenBitcoinGroup['attempts'][number];
const absent: Attempt = { seen: { state: 'absent' }, blockHash: null, lastBroadcastAt: ago(60_000) };
const pending: Attempt = { ...absent, seen: { state: 'pending' } };
const mined = (confirmations: number): Attempt => ({ ...absent, seen: { state: 'mined', confirmations } });
const unsent: Attempt = { ...absent, lastBroadcastAt: null };
const sent: Attempt = { ...absent, lastBroadcastAt: ago(4_999) };

const outcome = (...attempts: Attempt[]) =>
  nextBitcoinStep({ minConfirmations: 3, attempts }, now, gracePeriods);

describe('a replacement group', () => {
  test.each<[string, Attempt[], object]>([
    ['that was never sent', [unsent], { is: 'to_send' }],
    ['that was just sent', [sent], { is: 'sent' }],
    ['that was sent a while ago', [absent], { is: 'to_send' }],
    [
      'that was thrown out of a pool a day ago',
      [{ ...absent, lastBroadcastAt: ago(86_400_000) }],
      { is: 'to_send' },
    ],
    ['whose block was dropped', [{ ...sent, blockHash: 'block' }], { is: 'to_send' }],
    ['of which an older one lost its block', [{ ...absent, blockHash: 'block' }, sent], { is: 'to_send' }],
    ['that waits', [pending], { is: 'waiting', attempt: 0 }],
    ['whose newest waits', [absent, pending], { is: 'waiting', attempt: 1 }],
    ['whose newest waits beside an older one', [pending, pending], { is: 'waiting', attempt: 1 }],
    [
      'that waits, and whose sender died before noting it',
      [{ ...pending, lastBroadcastAt: null }],
      { is: 'to_replace', attempt: 0 },
    ],
    ['whose newest was never sent', [pending, unsent], { is: 'to_replace', attempt: 0 }],
    ['whose newest was just sent, and an older one waits', [pending, sent], { is: 'waiting', attempt: 0 }],
    ['whose newest was refused', [pending, absent], { is: 'to_replace', attempt: 0 }],
    ['that is in a block', [mined(1)], { is: 'in_block', attempt: 0 }],
    ['of which an older one is in a block', [mined(2), absent], { is: 'in_block', attempt: 0 }],
    ['that is deep enough', [mined(3)], { is: 'settled', attempt: 0 }],
    ['of which one in the middle is deep enough', [absent, mined(7), absent], { is: 'settled', attempt: 1 }],
  ])('%s', (_what, attempts, expected) => {
    expect(outcome(...attempts)).toEqual(expected);
  });
});

const long = ago(20 * 60_000);
const stuck = { attempt: 1, sentAt: long, feeRate: 8n };

test.each([
  ['a quarter more', stuck, 2n, 10n],
  ['what blocks cost by now, when that is more', stuck, 40n, 40n],
  ['at least one more', { ...stuck, feeRate: 1n }, 1n, 2n],
  ['nothing that nobody should have to pay', stuck, 1_000n, 300n],
  ['not while it may wait', { ...stuck, sentAt: new Date(long.getTime() + 1) }, 40n, undefined],
  ['not while it was never sent', { ...stuck, sentAt: null }, 40n, undefined],
  ['that of the eighth attempt', { ...stuck, attempt: 7 }, 40n, 40n],
  ['not for ever', { ...stuck, attempt: 8 }, 40n, undefined],
  ['not beyond the limit', { ...stuck, feeRate: 300n }, 40n, undefined],
])('the next fee rate is %s', (_what, attempt, current, rate) => {
  expect(nextFeeRate(attempt, current, now)).toBe(rate);
});

test('a replacement costs at most twice its own fee, and never more than the limit', () => {
  expect(mostFor(10n, 250)).toBe(5_000n);
  expect(mostFor(300n, 10_000)).toBe(5_000_000n);
});
