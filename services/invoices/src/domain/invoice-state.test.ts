import { describe, expect, it } from '@jest/globals';
import { type Units, units } from '@quittance/shared/money';
import { mayFollow, unpaid } from './invoice.ts';
import {
  computeInvoiceState,
  type InvoiceFacts,
  type InvoiceState,
  type PaymentTotals,
} from './invoice-state.ts';

const EXPIRES = new Date('2026-03-01T13:00:00.000Z');
const NOW = new Date('2026-03-01T15:00:00.000Z');
const invoice: InvoiceFacts = {
  ...unpaid,
  asset: 'ETH',
  amountDue: units(1_000n),
  toleranceBps: 0,
  dust: units(10n),
  expiresAt: EXPIRES,
};
const expired = { status: 'expired', closedAt: EXPIRES } as const;
const underpaid = { status: 'partially_paid', closedAt: EXPIRES } as const;

const zero = units(0n);
const nothing: PaymentTotals = {
  timelyFinal: zero,
  timelyPending: zero,
  timelyCredited: zero,
  lateFinal: zero,
  latePending: zero,
  timelyWaiting: zero,
  lateWaiting: zero,
  reversed: zero,
  isAwaited: false,
  unsettled: 0,
  unsettledUncounted: 0,
  lost: 0,
  isReversalUnreported: false,
  isTimelyUnreported: false,
  isLateUnreported: false,
};
type Paid = { [K in keyof PaymentTotals]?: PaymentTotals[K] extends Units ? bigint : PaymentTotals[K] };
const stateOf = (given: Partial<InvoiceFacts>, paid: Paid, knownUntil = EXPIRES) =>
  computeInvoiceState(
    { ...invoice, ...given },
    { ...nothing, ...paid } as PaymentTotals,
    { knownUntil },
    NOW,
  );

const late = { lateFinal: 50n, latePending: 7n, lateWaiting: 5n };
type Row = [string, Partial<InvoiceFacts>, Paid, Partial<InvoiceState>];

describe('an open invoice', () => {
  it.each<Row>([
    ['is partially paid by one unit', {}, { timelyPending: 1n }, { status: 'partially_paid' }],
    [
      'that is not covered counts what was in time',
      {},
      { timelyFinal: 100n, timelyPending: 30n, timelyWaiting: 20n, ...late },
      { status: 'partially_paid', paidAmount: 100n as Units, pendingAmount: 50n as Units },
    ],
    [
      'that is covered counts late payments, too',
      {},
      { timelyFinal: 600n, timelyPending: 300n, timelyWaiting: 100n, ...late },
      { status: 'confirmed', paidAmount: 650n as Units, pendingAmount: 412n as Units, events: [] },
    ],
    [
      'is not overpaid while the mempool covers it',
      {},
      { timelyFinal: 900n, timelyWaiting: 100n, lateFinal: 200n },
      { status: 'confirmed', events: [] },
    ],
    [
      'is not paid by a credited payment that has left the chain',
      {},
      { timelyCredited: 1_000n, reversed: 1_000n },
      { status: 'pending', reversedAmount: 1_000n as Units },
    ],
    [
      'is paid when the rest is credited',
      { status: 'partially_paid' },
      { timelyFinal: 1_000n, timelyCredited: 1_000n },
      { status: 'paid', paidAt: NOW, events: ['invoice.confirmed', 'invoice.paid'] },
    ],
    ['waits again when its payment has left the chain', { status: 'confirmed' }, {}, { status: 'pending' }],
    [
      'is not reported as partially paid after it was confirmed',
      { status: 'confirmed' },
      { timelyFinal: 100n },
      { status: 'partially_paid', events: [] },
    ],
    ['reports no late payment yet', {}, { isLateUnreported: true, isTimelyUnreported: true }, { events: [] }],
  ])('%s', (_what, given, paid, expected) => {
    expect(stateOf(given, paid)).toMatchObject(expected);
    for (const before of ['pending', 'partially_paid', 'confirmed'] as const) {
      expect(mayFollow(before, stateOf({ ...given, status: before }, paid).status)).toBe(true);
    }
  });
});

it.each<Row>([
  ['expires', {}, {}, { ...expired, closedAt: NOW, events: ['invoice.expired'] }],
  [
    'is underpaid',
    { status: 'partially_paid' },
    { timelyFinal: 999n },
    { ...underpaid, closedAt: NOW, events: ['invoice.underpaid'] },
  ],
  ['that is covered stays open', {}, { timelyPending: 1_000n }, { status: 'confirmed', closedAt: null }],
])('an invoice whose time is over %s', (_what, given, paid, expected) => {
  expect(stateOf(given, paid, NOW)).toMatchObject(expected);
});

it.each<Row>([
  ['expired, late', expired, { isLateUnreported: true }, { events: ['invoice.late_payment'] }],
  ['expired, in time', expired, { isTimelyUnreported: true }, { events: ['invoice.late_payment'] }],
  ['underpaid, late', underpaid, { isLateUnreported: true }, { events: ['invoice.late_payment'] }],
  ['underpaid, in time', underpaid, { isTimelyUnreported: true }, { events: [] }],
  [
    'expired, counted',
    expired,
    { timelyFinal: 40n, timelyPending: 3n },
    { paidAmount: 0n as Units, pendingAmount: 0n as Units },
  ],
])('a payment that a closed invoice finds: %s', (_what, given, paid, expected) => {
  const reportedEvents = ['invoice.expired', 'invoice.underpaid'];
  expect(stateOf({ ...given, reportedEvents }, paid, NOW)).toMatchObject({ ...given, ...expected });
});

it('a paid invoice stays paid and credits what comes, whatever has left the chain', () => {
  expect(stateOf({ status: 'paid', paidAt: EXPIRES }, { lateFinal: 20n })).toMatchObject({
    status: 'paid',
    paidAt: EXPIRES,
    destinations: { counted: 'credit' },
  });
});

describe('events', () => {
  const reported = (before: string[], paid: Paid) => {
    const { events, reportedEvents } = stateOf({ reportedEvents: ['invoice.created', ...before] }, paid);
    return [events, reportedEvents.slice(1)];
  };
  const REVERSED = 'invoice.payment_reversed';
  const over = { timelyFinal: 700n, timelyPending: 300n, lateFinal: 50n, latePending: 7n };

  it('report each total beyond the amount due once', () => {
    const both = ['invoice.confirmed', 'invoice.overpaid:1057'];
    expect(reported([], over)).toEqual([['invoice.confirmed', 'invoice.overpaid'], both]);
    expect(reported(both, over)).toEqual([[], both]);
    expect(reported(both, { ...over, lateFinal: 93n })).toEqual([
      ['invoice.overpaid'],
      ['invoice.confirmed', 'invoice.overpaid:1100'],
    ]);
  });

  it('report each reversal, and count those that former releases stored by payment', () => {
    expect(reported([`${REVERSED}:#3`], { isReversalUnreported: true })).toEqual([
      [REVERSED],
      [`${REVERSED}:#4`],
    ]);
    const former = [`${REVERSED}:dep_1`, `${REVERSED}:dep_2`];
    expect(reported(former, { isReversalUnreported: true })).toEqual([
      [REVERSED],
      [...former, `${REVERSED}:#3`],
    ]);
  });

  it('report a partial payment again after a reversal', () => {
    const part = 'invoice.partially_paid';
    expect(reported([], { timelyPending: 5n })).toEqual([[part], [part]]);
    const once = [part, `${REVERSED}:#1`];
    expect(reported(once, { timelyPending: 5n })).toEqual([[part], [...once, `${part}:1`]]);
  });
});

it('a new invoice has no payments, and was reported as created', () => {
  const { destinations: _, events, ...state } = stateOf({}, {});
  expect(state).toEqual(unpaid);
  expect(events).toEqual([]);
  expect(unpaid.reportedEvents).toEqual(['invoice.created']);
});
