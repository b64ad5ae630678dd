import { describe, expect, test } from '@jest/globals';
import { type BitcoinObservation, nextBitcoinStep, type OpenBitcoinGroup } from './next-step.ts';

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
    ['that waits', [pending], { is: 'waiting', attempt: 0 }],
    ['whose newest waits', [absent, pending], { is: 'waiting', attempt: 1 }],
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

  test('never ends because no node knows it, however long', () => {
    const states: BitcoinObservation['state'][] = ['absent'];
    for (const state of states)
      expect(outcome({ ...absent, seen: { state } as BitcoinObservation })).toEqual({ is: 'to_send' });
  });
});
