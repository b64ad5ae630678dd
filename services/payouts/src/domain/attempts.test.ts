import { expect, test } from '@jest/globals';
import { attemptStatusesOf } from './attempts.ts';
import type { TransactionState } from './states.ts';

const states = {
  'in a block': 'broadcast',
  'invalidated after a block': 'invalidated',
  mined: 'mined',
  reverted: 'reverted',
} as const;
type InBlock = keyof typeof states;
const isInBlock = (given: string): given is InBlock => Object.hasOwn(states, given);

const statuses = (...attempts: (TransactionState | InBlock)[]) =>
  attemptStatusesOf(
    attempts.map((given) =>
      isInBlock(given) ? { state: states[given], blockHash: '0xblock' } : { state: given, blockHash: null },
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

test('an attempt that has ended in the chain takes the place of one whose block was dropped since', () => {
  expect(statuses('in a block', 'mined')).toEqual(['replaced', 'mined']);
});

test('an attempt that no block can include any more stands for none, though a block has included it', () => {
  expect(statuses('invalidated after a block', 'broadcast')).toEqual(['replaced', 'sent']);
});

test('a payout of which no attempt can be mined was dropped with its newest', () => {
  expect(statuses('invalidated', 'invalidated')).toEqual(['replaced', 'dropped']);
});
