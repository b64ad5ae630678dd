import { describe, expect, test } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { eventTypes } from './event-types.ts';
import { hasBeenFailing, notificationOf, oneLine } from './mail-notification.ts';

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

test('what is no text and what is no decimal is left out', () => {
  const data = {
    id: null,
    amount_fiat: '1e400',
    paid_amount: '1 or 1=1',
    description: { a: 1 },
    asset: 'ETH',
  };
  expect(notificationOf(event('invoice.paid', data))?.facts).toEqual({ type: 'invoice_paid' });
});

test.each([
  ['a\r\nBcc: x@y.example', 'a Bcc: x@y.example'],
  ['\u0000a\u0007\tb\u2028c\u2029', 'a b c'],
  ['\u202Egpj.exe\u2066', 'gpj.exe'],
  ['a\uD800b', 'a\uFFFDb'],
  [' a    b ', 'a b'],
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
    // After a silence it fails again.
    [health(0, 45), health(2_000, 2_000), false],
    [health(2_000, 2_000), health(2_000, 2_031), true],
  ])('from %j to %j: %p', (before, after, expected) => {
    expect(hasBeenFailing(before, after)).toBe(expected);
  });
});
