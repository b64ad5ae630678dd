import { expect, test } from '@jest/globals';
import { kindsFor } from '@quittance/shared/events';
import { defaultEventTypes, eventTypes } from './event-types.ts';

test('the contract’s five are told by default, and all that needs somebody to act', () => {
  expect(defaultEventTypes).toEqual([
    'invoice.created',
    'invoice.confirmed',
    'invoice.paid',
    'invoice.expired',
    'payout.completed',
    'payout.failed',
    'invoice.underpaid',
    'invoice.overpaid',
    'invoice.late_payment',
    'invoice.payment_reversed',
  ]);
});

test('whatever reaches this service can be asked for', () => {
  expect(eventTypes).toEqual(expect.arrayContaining(kindsFor('webhooks')));
  expect(eventTypes).toHaveLength(kindsFor('webhooks').length + 1);
});
