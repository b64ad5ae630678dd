import { expect, test } from '@jest/globals';
import { kindsFor } from '@quittance/shared/events';
import { defaultEventTypes, eventTypes } from './event-types.ts';

test('an endpoint receives the contract’s five events and those that need an action by default', () => {
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
    'invoice.unresolved_payment',
    'invoice.payment_reversed',
    'refund.expired',
    'refund.unfunded',
    'automatic_payout.failed',
  ]);
});

test('an endpoint can subscribe to every event that reaches this service', () => {
  expect(eventTypes).toEqual(expect.arrayContaining(kindsFor('webhooks')));
  expect(eventTypes).toHaveLength(kindsFor('webhooks').length + 1);
});
