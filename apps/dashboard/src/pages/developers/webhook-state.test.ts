import { expect, test } from '@jest/globals';
import type { Webhook } from '@quittance/client';
import { endpointState, outcomeOf } from './webhook-state.ts';

const now = new Date('2026-11-26T12:00:00Z');
const past = '2026-11-26T11:00:00.000Z';
const future = '2026-11-26T13:00:00.000Z';

const endpoint = (changes: Partial<Webhook>): Webhook => ({
  id: 'whe_1',
  url: 'https://shop.example.com/quittance',
  events: ['invoice.paid'],
  description: null,
  enabled: true,
  disabled_reason: null,
  disabled_at: past,
  missed_since: null,
  failing_since: null,
  paused_until: null,
  created_at: past,
  ...changes,
});

test('an endpoint is shown by its most pressing state', () => {
  const stateOf = (changes: Partial<Webhook>) => endpointState(endpoint(changes), now).state;
  expect(stateOf({})).toBe('enabled');
  expect(stateOf({ paused_until: past })).toBe('enabled');
  expect(stateOf({ paused_until: future })).toBe('paused');
  expect(stateOf({ paused_until: future, failing_since: past })).toBe('failing');
  expect(stateOf({ enabled: false, failing_since: past })).toBe('disabled');
});

test('a disabled endpoint says why and since when', () => {
  const why = 'Disabled by its owner.';
  expect(endpointState(endpoint({ enabled: false, disabled_reason: why }), now)).toEqual({
    state: 'disabled',
    at: past,
    why,
  });
});

test('an attempt says what was answered, or why nothing was', () => {
  expect(outcomeOf({ status: 503, failure: null })).toBe('answered 503');
  expect(outcomeOf({ status: null, failure: 'timed_out' })).toBe('no complete answer within 15 seconds');
  expect(outcomeOf({ status: null, failure: 'new_one' })).toBe('new_one');
});
