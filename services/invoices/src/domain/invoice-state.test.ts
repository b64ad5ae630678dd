import { describe, expect, it } from '@jest/globals';
import { type Units, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import { noPayments } from '@quittance/testkit/builders';
import fc from 'fast-check';
import { mayFollow, statuses, unpaid } from './invoice.ts';
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
  cancelledAt: null,
};
const expired = { status: 'expired', closedAt: EXPIRES } as const;
const underpaid = { status: 'partially_paid', closedAt: EXPIRES } as const;

type Paid = { [K in keyof PaymentTotals]?: PaymentTotals[K] extends Units ? bigint : PaymentTotals[K] };
const stateOf = (given: Partial<InvoiceFacts>, paid: Paid, knownUntil: Date | null = EXPIRES) =>
  computeInvoiceState(
    { ...invoice, ...given },
    { ...noPayments, ...paid } as PaymentTotals,
    { knownUntil },
    NOW,
  );

const late = { lateFinal: 50n, latePending: 7n, lateWaiting: 5n };
type Row = [string, Paid, Partial<InvoiceState>, Partial<InvoiceFacts>?];

describe('an open invoice', () => {
  it.each<Row>([
    ['is partially paid by one unit', { timelyPending: 1n }, { status: 'partially_paid' }],
    [
      'that is not covered counts what was in time',
      { timelyFinal: 100n, timelyPending: 30n, timelyWaiting: 20n, ...late },
      { status: 'partially_paid', paidAmount: 100n as Units, pendingAmount: 50n as Units },
    ],
    [
      'that is covered counts late payments, too',
      { timelyFinal: 600n, timelyPending: 300n, timelyWaiting: 100n, ...late },
      { status: 'confirmed', paidAmount: 650n as Units, pendingAmount: 412n as Units, events: [] },
    ],
    [
      'is not overpaid while the mempool covers it',
      { timelyFinal: 900n, timelyWaiting: 100n, lateFinal: 200n },
      { status: 'confirmed', events: [] },
    ],
    [
      'is not paid by a credited payment that has left the chain',
      { timelyCredited: 1_000n, reversed: 1_000n },
      { status: 'pending', reversedAmount: 1_000n as Units },
    ],
    [
      'is paid when the rest is credited',
      { timelyFinal: 1_000n, timelyCredited: 1_000n },
      { status: 'paid', paidAt: NOW, events: ['invoice.confirmed', 'invoice.paid'] },
      { status: 'partially_paid' },
    ],
    [
      'is credited when final payments cover it',
      { timelyFinal: 1_000n },
      { destinations: { counted: 'credit', uncounted: 'unresolved' } },
    ],
    [
      'is not credited before',
      { timelyFinal: 999n, timelyPending: 1n, lateFinal: 50n },
      { destinations: { counted: null, uncounted: 'unresolved' } },
    ],
    ['waits again when its payment has left the chain', {}, { status: 'pending' }, { status: 'confirmed' }],
    [
      'is not reported as partially paid after it was confirmed',
      { timelyFinal: 100n },
      { status: 'partially_paid', events: [] },
      { status: 'confirmed' },
    ],
    ['reports no late payment yet', { isLateUnreported: true, isTimelyUnreported: true }, { events: [] }],
  ])('%s', (_what, paid, expected, given = {}) => {
    expect(stateOf(given, paid)).toMatchObject(expected);
    for (const before of ['pending', 'partially_paid', 'confirmed'] as const) {
      expect(mayFollow(before, stateOf({ ...given, status: before }, paid).status)).toBe(true);
    }
  });
});

it.each<Row>([
  ['expires', {}, { ...expired, closedAt: NOW, events: ['invoice.expired'] }],
  [
    'is underpaid',
    { timelyFinal: 999n },
    { ...underpaid, closedAt: NOW, events: ['invoice.underpaid'] },
    { status: 'partially_paid' },
  ],
  ['that is covered stays open', { timelyPending: 1_000n }, { status: 'confirmed', closedAt: null }],
])('an invoice whose time is over %s', (_what, paid, expected, given = {}) => {
  expect(stateOf(given, paid, NOW)).toMatchObject(expected);
});

it.each<Row>([
  ['expired, late', { isLateUnreported: true }, { events: ['invoice.late_payment'] }, expired],
  ['expired, in time', { isTimelyUnreported: true }, { events: ['invoice.late_payment'] }, expired],
  ['underpaid, late', { isLateUnreported: true }, { events: ['invoice.late_payment'] }, underpaid],
  ['underpaid, in time', { isTimelyUnreported: true }, { events: [] }, underpaid],
  [
    'expired, counted',
    { timelyFinal: 40n, timelyPending: 3n },
    {
      ...{ paidAmount: 0n as Units, pendingAmount: 0n as Units },
      destinations: { counted: 'unresolved', uncounted: 'unresolved' },
    },
    expired,
  ],
])('a payment that a closed invoice finds: %s', (_what, paid, expected, given = {}) => {
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

describe('for any invoice and totals', () => {
  const amount = fc.oneof(fc.constant(0n), fc.constant(0n), fc.bigInt({ min: 1n, max: 1_500n })).map(units);
  const flag = fc.boolean();
  const totals = fc
    .record({
      ...{ timelyFinal: amount, timelyPending: amount, timelyCredited: amount, timelyWaiting: amount },
      ...{ lateFinal: amount, latePending: amount, lateWaiting: amount, isAwaited: flag },
      ...{ isReversalUnreported: flag, isTimelyUnreported: flag, isLateUnreported: flag },
    })
    // Only final payments are credited.
    .filter(({ timelyCredited, timelyFinal }) => timelyCredited <= timelyFinal);
  const facts = fc
    .record({
      status: fc.constantFrom(...statuses),
      isClosed: fc.boolean(),
      toleranceBps: fc.constantFrom(0, 0, 50, 500),
      expiresAt: fc.constantFrom(EXPIRES, null),
    })
    .map(({ status, isClosed, ...rest }) => ({
      ...{ ...rest, status },
      paidAt: status === 'paid' ? EXPIRES : null,
      closedAt: status === 'expired' || (status === 'partially_paid' && isClosed) ? EXPIRES : null,
    }));
  const known = fc.constantFrom(null, EXPIRES, new Date(EXPIRES.getTime() + 1));
  const forAny = (check: (given: Partial<InvoiceFacts>, paid: Paid, until: Date | null) => void) =>
    assertProperty(fc.property(facts, totals, known, check), { most: 500 });

  it('final decisions stay, and every change follows the table', () =>
    forAny((given, paid, until) => {
      const { status, closedAt, paidAt } = stateOf(given, paid, until);
      expect(mayFollow(given.status ?? 'pending', status)).toBe(true);
      if (given.closedAt !== null) expect([status, closedAt]).toEqual([given.status, given.closedAt]);
      if (given.status === 'paid') expect(paidAt).toEqual(given.paidAt);
      expect(paidAt !== null).toBe(status === 'paid');
      expect(status !== 'expired' || closedAt !== null).toBe(true);
    }));

  it('computing the state again changes and reports nothing', () =>
    forAny((given, paid, until) => {
      const { events: _, ...once } = stateOf(given, paid, until);
      const told = { isReversalUnreported: false, isTimelyUnreported: false, isLateUnreported: false };
      expect(stateOf({ ...given, ...once }, { ...paid, ...told }, until)).toEqual({ ...once, events: [] });
    }));

  it('the payments alone decide the state of an open invoice, not its former status', () =>
    forAny((given, paid, until) => {
      const of = (status: 'pending' | 'partially_paid' | 'confirmed') => {
        const {
          events: _,
          reportedEvents: __,
          ...state
        } = stateOf({ ...given, ...open, status }, paid, until);
        return state;
      };
      const open = { paidAt: null, closedAt: null };
      expect([of('partially_paid'), of('confirmed')]).toEqual([of('pending'), of('pending')]);
    }));

  it('money counts at most once', () =>
    forAny((given, paid, until) => {
      const { pendingAmount, paidAmount } = stateOf(given, paid, until);
      const { timelyFinal = 0n, lateFinal = 0n, timelyPending = 0n, latePending = 0n } = paid;
      expect(paidAmount).toBeLessThanOrEqual(timelyFinal + lateFinal);
      const { timelyWaiting = 0n, lateWaiting = 0n } = paid;
      expect(pendingAmount).toBeLessThanOrEqual(timelyPending + latePending + timelyWaiting + lateWaiting);
    }));

  it('an invoice closes only when its time is known to be over and no payment is awaited', () =>
    forAny((given, paid, until) => {
      const isOver = given.expiresAt != null && until !== null && until > given.expiresAt;
      if (given.closedAt === null && (!isOver || paid.isAwaited)) {
        expect(stateOf(given, paid, until).closedAt).toBeNull();
      }
    }));

  it('paid is never reported before confirmed, and only a covered invoice is credited', () =>
    forAny((given, paid, until) => {
      const { events, reportedEvents, destinations, status } = stateOf(given, paid, until);
      if (events.includes('invoice.paid')) {
        expect(reportedEvents).toContain('invoice.confirmed');
        expect(events.indexOf('invoice.confirmed')).toBeLessThan(events.indexOf('invoice.paid'));
      }
      if (destinations.counted === 'credit') expect(['confirmed', 'paid']).toContain(status);
    }));
});

it('a new invoice has no payments, and was reported as created', () => {
  const { destinations: _, events, ...state } = stateOf({}, {});
  expect(state).toEqual(unpaid);
  expect(events).toEqual([]);
  expect(unpaid.reportedEvents).toEqual(['invoice.created']);
});

it('a cancelled invoice is expired at once, also while nothing is known of its chain', () => {
  expect(stateOf({ cancelledAt: NOW }, {}, null)).toMatchObject({ status: 'expired', closedAt: NOW });
});
