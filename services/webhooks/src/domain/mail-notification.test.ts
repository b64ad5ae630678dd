import { describe, expect, test } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { eventTypes } from './event-types.ts';
import { hasBeenFailing, mailKinds, notificationOf, oneLine, topicOf } from './mail-notification.ts';

const event = (kind: string, data: Record<string, unknown>) => ({
  ...{ id: 'evt_1', kind, createdAt: new Date(0), accountId: 'acc_1' as AccountId, data },
});

test('these event types are told by e-mail, and no others', () => {
  const told = eventTypes.filter((kind) => notificationOf(event(kind, {})) !== undefined);
  expect(told.toSorted()).toEqual([
    'automatic_payout.failed',
    'invoice.late_payment',
    'invoice.paid',
    'invoice.underpaid',
    'invoice.unresolved_payment',
    'payout.failed',
  ]);
});

test('of an event nothing is kept but what the mail says', () => {
  const data = {
    ...{ id: 'inv_1', amount_fiat: '10.00', currency: 'EUR', paid_amount: '0.5', description: 'Two cups' },
    ...{
      asset: { symbol: 'ETH', usd_rate: '1' },
      metadata: { email: 'a@b.example' },
      external_id: 'order 7',
    },
    ...{ address: { address: '0x1' }, url: 'https://pay.example/pay/inv_1' },
  };
  expect(notificationOf(event('invoice.paid', data))).toEqual({
    eventKey: 'evt_1',
    accountId: 'acc_1',
    kind: 'paid',
    happenedAt: new Date(0),
    facts: {
      ...{ type: 'invoice_paid', id: 'inv_1', asset: 'ETH', amount: '0.5', price: '10.00', currency: 'EUR' },
      description: 'Two cups',
    },
  });
});

/** Of an invoice of 0.5 ETH for EUR 10. */
const invoice = {
  ...{ id: 'inv_1', amount: '0.5', paid_amount: '0.2', amount_fiat: '10.00', currency: 'EUR' },
  ...{ description: 'Two cups', asset: { symbol: 'ETH' } },
};
const ofInvoice = { id: 'inv_1', price: '10.00', currency: 'EUR', description: 'Two cups' };

test.each<[string, Record<string, unknown>, string, Record<string, unknown>]>([
  [
    'invoice.late_payment',
    invoice,
    'paid_late',
    { type: 'invoice_paid_late', asset: 'ETH', due: '0.5', ...ofInvoice },
  ],
  [
    'invoice.underpaid',
    invoice,
    'paid_short',
    { type: 'invoice_underpaid', asset: 'ETH', amount: '0.2', due: '0.5', ...ofInvoice },
  ],
  [
    'invoice.unresolved_payment',
    { ...invoice, unresolved: { asset: { symbol: 'USDC_ERC20' }, amount: '7' } },
    'paid_short',
    { type: 'funds_unresolved', asset: 'USDC_ERC20', amount: '7', ...ofInvoice },
  ],
  [
    'payout.failed',
    { id: 7, amount: '1.5', failed_reason: 'rejected by the network', asset: { symbol: 'SOL' } },
    'payout_failed',
    { type: 'payout_failed', id: '7', asset: 'SOL', amount: '1.5', reason: 'rejected by the network' },
  ],
  [
    'automatic_payout.failed',
    { asset: { symbol: 'BTC' }, last_error: 'the balance is too small' },
    'payout_failed',
    { type: 'automatic_payout_failed', asset: 'BTC', reason: 'the balance is too small' },
  ],
])('%s is told with what a person wants to know of it', (type, data, kind, facts) => {
  const told = notificationOf(event(type, data));
  expect([told?.kind, told?.facts]).toStrictEqual([kind, facts]);
});

test('a payout that its owner has cancelled is not told', () => {
  expect(notificationOf(event('payout.failed', { id: 7, failed_reason: 'cancelled' }))).toBeUndefined();
});

test('a name that every object has is no event type', () => {
  expect(notificationOf(event('constructor', {}))).toBeUndefined();
});

test('only sales do not need attention', () => {
  expect(mailKinds.filter((kind) => topicOf(kind) === 'sales')).toEqual(['paid']);
  expect(mailKinds.filter((kind) => topicOf(kind) === 'attention')).toEqual([
    'paid_late',
    'paid_short',
    'payout_failed',
    'webhook_failing',
  ]);
});

test('what is no text and what is no decimal is left out', () => {
  const data = {
    id: null,
    amount_fiat: '1e400',
    paid_amount: '1 or 1=1',
    description: { a: 1 },
    asset: 'ETH',
  };
  expect(notificationOf(event('invoice.paid', data))?.facts).toEqual({ type: 'invoice_paid' });
  const without = { ...data, asset: null, amount: 'five' };
  expect(notificationOf(event('invoice.underpaid', without))?.facts).toEqual({ type: 'invoice_underpaid' });
});

test.each([
  ['a\r\nBcc: x@y.example', 'a Bcc: x@y.example'],
  ['\u0000a\u0007\tb\u2028c\u2029', 'a b c'],
  ['\u202Egpj.exe\u2066', 'gpj.exe'],
  ['a\uD800b', 'a\uFFFDb'],
  [' a    b ', 'a b'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), `${'x'.repeat(199)}…`],
])('%j is one line of plain text', (text, line) => {
  expect(oneLine(text)).toBe(line);
});

describe('an endpoint has been failing', () => {
  const at = (minutes: number | null) => (minutes === null ? null : new Date(minutes * 60_000));
  const health = (failingSince: number | null, lastFailedAt: number | null) => ({
    ...{ failingSince: at(failingSince), lastFailedAt: at(lastFailedAt) },
  });
  test.each([
    [health(null, null), health(0, 0), false],
    [health(0, 5), health(0, 29), false],
    [health(0, 29), health(0, 30), true],
    [health(0, 30), health(0, 60), false],
    [health(0, 45), health(null, null), false],
    [health(0, 5), health(null, 45), false],
    [health(0, 5), health(0, null), false],
    [health(null, 45), health(0, 46), true],
    [health(0, 29.999), health(0, 29.9999), false],
    // After a silence it fails again.
    [health(0, 45), health(2_000, 2_000), false],
    [health(2_000, 2_000), health(2_000, 2_031), true],
  ])('from %j to %j: %p', (before, after, expected) => {
    expect(hasBeenFailing(before, after)).toBe(expected);
  });
});
