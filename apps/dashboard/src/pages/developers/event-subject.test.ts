import { expect, test } from '@jest/globals';
import { subjectOf } from './event-subject.ts';

test('events of invoices and payouts lead to their pages', () => {
  expect(subjectOf({ event: 'invoice.paid', data: { id: 'inv_1' } })).toEqual({
    id: 'inv_1',
    to: '/invoices/inv_1',
  });
  expect(subjectOf({ event: 'payout.failed', data: { id: 52810934471203 } })).toEqual({
    id: '52810934471203',
    to: '/payouts/52810934471203',
  });
  expect(subjectOf({ event: 'refund.expired', data: { id: 'ref_1' } })).toEqual({
    id: 'ref_1',
    to: undefined,
  });
});

test('an event of nothing in particular leads nowhere', () => {
  expect(subjectOf({ event: 'webhook.test', data: { message: 'hello' } })).toBeUndefined();
  expect(subjectOf({ event: 'automatic_payout.failed', data: { asset: 'ETH' } })).toBeUndefined();
});
