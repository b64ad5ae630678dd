import { expect, test } from '@jest/globals';
import { attemptStatusesOf } from './attempts.ts';
import type { TransactionState } from './states.ts';

const statuses = (...attempts: (TransactionState | 'in a block')[]) =>
  attemptStatusesOf(
    attempts.map((state) =>
      state === 'in a block'
        ? { state: 'broadcast', blockHash: '0xblock' }
        : { state, blockHash: state === 'mined' || state === 'reverted' ? '0xblock' : null },
    ),
  );

test('the newest attempt stands for those before it while no block includes one', () => {
  expect(statuses()).toEqual([]);
  expect(statuses('signed')).toEqual(['signed']);
  expect(statuses('broadcast', 'signed')).toEqual(['replaced', 'signed']);
  expect(statuses('invalidated', 'broadcast')).toEqual(['replaced', 'sent']);
});

test('an older attempt that a block includes takes the place of newer ones', () => {
  expect(statuses('in a block', 'broadcast')).toEqual(['sent', 'replaced']);
  expect(statuses('mined', 'invalidated')).toEqual(['mined', 'replaced']);
  expect(statuses('invalidated', 'reverted', 'invalidated')).toEqual(['replaced', 'failed', 'replaced']);
});

test('a payout of which no attempt can be mined was dropped with its newest', () => {
  expect(statuses('invalidated', 'invalidated')).toEqual(['replaced', 'dropped']);
});
