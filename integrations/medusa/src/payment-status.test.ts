import { expect, test } from '@jest/globals';
import { sessionStatus, webhookAction } from './payment-status.ts';

test('only an invoice whose money is in the balance is captured', () => {
  const statuses = ['pending', 'partially_paid', 'confirmed', 'paid', 'expired'] as const;
  expect(statuses.filter((status) => sessionStatus({ status }) === 'captured')).toEqual(['paid']);
  expect(statuses.map((status) => sessionStatus({ status }))).not.toContain('authorized');
});

test('only the event invoice.paid captures a payment, and events of other things do nothing', () => {
  expect(webhookAction('invoice.paid')).toBe('captured');
  expect(webhookAction('invoice.confirmed')).toBe('pending');
  for (const event of ['invoice.created', 'invoice.late_payment', 'payout.completed', 'constructor'])
    expect(webhookAction(event)).toBe('not_supported');
});
