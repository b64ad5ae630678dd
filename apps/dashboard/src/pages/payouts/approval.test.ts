import { expect, test } from '@jest/globals';
import type { Payout } from '@quittance/client';
import { approvalProgress, approverState, stateOf } from './approval.ts';

const approval = (given: Partial<NonNullable<Payout['approval']>> = {}) => ({
  approval: {
    ...{ status: 'waiting' as const, needed: 2, given: [], requested_by: 'per_maker' },
    ...{ expires_at: '2026-12-01T00:00:00Z', ...given },
  },
});
const said = { token_id: null, person_id: 'per_anna', decision: 'approved' as const, at: '' };

test('a payout is approved by another person than the one who has requested it, once, with the role', () => {
  expect(approverState(approval(), 'per_anna', true)).toBe('may');
  expect(approverState(approval(), 'per_maker', true)).toBe('own');
  expect(approverState(approval(), 'per_anna', false)).toBe('role');
  expect(approverState(approval({ given: [said] }), 'per_anna', true)).toBe('has_decided');
  expect(approverState(approval({ given: [said] }), 'per_ben', true)).toBe('may');
  expect(approverState(approval({ status: 'approved' }), 'per_anna', true)).toBe('not_waiting');
  expect(approverState({ approval: null }, 'per_anna', true)).toBe('not_waiting');
});

test('approvals are counted without rejections', () => {
  expect(approvalProgress(approval({ given: [said, { ...said, decision: 'rejected' }] }))).toBe('1 of 2');
});

test('what waits, and what is being cancelled, is not shown as on its way', () => {
  const state = (given: object) =>
    stateOf({ status: 'pending', approval: null, cancel_requested_at: null, ...given }).label;
  expect(state({})).toBe('pending');
  expect(state(approval())).toBe('waits for approval');
  expect(state(approval({ status: 'rejected' }))).toBe('rejected');
  expect(state({ cancel_requested_at: '2026-11-25T00:00:00Z' })).toBe('being cancelled');
  expect(state({ status: 'mined', ...approval({ status: 'approved' }) })).toBe('mined');
});
