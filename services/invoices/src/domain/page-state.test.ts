import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import type { Deposit } from './deposit.ts';
import { EXTENDED_MAX_MS } from './expiry-extension.ts';
import { type Invoice, unpaid } from './invoice.ts';
import type { MempoolPayment } from './mempool-payment.ts';
import {
  amountSeen,
  confirmationProgress,
  isReadLate,
  type PageState,
  pageStateOf,
  pageStates,
  surplusOf,
} from './page-state.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const MINUTE = 60_000;

const NONE = units(0n);
const DUST = units(10n);
const invoice = {
  ...unpaid,
  asset: 'ETH',
  amountDue: units(1_000n),
  dust: DUST,
  expiresAt: ago(-30 * MINUTE),
  cancelledAt: null,
} as Invoice;
const half = { status: 'partially_paid', pendingAmount: units(500n) } as const;
const confirmed = { status: 'confirmed', pendingAmount: units(1_000n) } as const;
const paid = { status: 'paid', paidAmount: units(1_000n), paidAt: ago(MINUTE) } as const;
const unending = { expiresAt: null };
const over = { expiresAt: ago(MINUTE) };
const closed = { ...over, closedAt: ago(1) };
const expired = { ...closed, status: 'expired' } as const;

const aDeposit = (given: Partial<Deposit> = {}) =>
  ({
    ...{ asset: 'ETH', amount: units(1_000n), blockHeight: 100, minConfirmations: 12 },
    ...{ state: 'seen', isHeld: false, ...given },
  }) as Deposit;
const waiting = { asset: 'ETH', amount: DUST, droppedAt: null } as MempoolPayment;
const dropped = { ...waiting, droppedAt: ago(1) };

/** What the page of an invoice shows, and how its chain was read: just now where nothing else is given. */
type Shown = Partial<Invoice> & {
  deposits?: Deposit[];
  mempoolPayments?: MempoolPayment[];
  refunded?: bigint;
  syncedAt?: Date | null;
  isLate?: boolean;
};
function stateOf({ deposits = [], mempoolPayments = [], refunded = 0n, ...shown }: Shown): PageState {
  const { syncedAt = NOW, isLate = false, ...given } = shown;
  const seen = { deposits, mempoolPayments };
  return pageStateOf({ ...invoice, ...given }, seen, units(refunded), { now: NOW, syncedAt, isLate });
}

type Row = [what: string, state: PageState, shown: Shown];
const rows: Row[] = [
  ['has time left', 'waiting', {}],
  ['ends at this moment', 'waiting', { expiresAt: NOW }],
  ['never ends', 'waiting', unending],
  ['has just ended', 'over', { expiresAt: ago(1) }],
  ['is paid in part', 'short', half],
  ['is paid in part and never ends', 'short', { ...half, ...unending }],
  ['is paid in part when its time is over', 'over', { ...half, ...over }],
  ['was closed with a part', 'underpaid', { ...half, ...closed }],

  ['is covered by a block', 'confirming', { ...confirmed, deposits: [aDeposit()] }],
  ['is covered when its time is over', 'confirming', { ...confirmed, ...over, deposits: [aDeposit()] }],
  ['is covered by the mempool', 'seen', { ...confirmed, mempoolPayments: [waiting] }],
  [
    'is covered by the mempool beside what was dropped',
    'seen',
    { ...confirmed, mempoolPayments: [dropped, waiting] },
  ],
  ['is covered beside what was dropped', 'confirming', { ...confirmed, mempoolPayments: [dropped] }],
  [
    'is covered beside too little in the mempool',
    'confirming',
    { ...confirmed, mempoolPayments: [{ ...waiting, amount: units(9n) }] },
  ],
  [
    'is covered beside another asset in the mempool',
    'confirming',
    { ...confirmed, mempoolPayments: [{ ...waiting, asset: 'USDC_ERC20' }] },
  ],

  ['is paid', 'paid', paid],
  ['is paid with more on the way', 'paid', { ...paid, pendingAmount: units(500n) }],
  ['is paid with more than due', 'overpaid', { ...paid, paidAmount: units(1_010n) }],
  [
    'is paid with more than due, and refunds of it',
    'paid',
    { ...paid, paidAmount: units(1_010n), refunded: 1n },
  ],
  ['has lost one unit after it was paid', 'reversed', { ...paid, reversedAmount: units(1n) }],

  ['has expired', 'expired', expired],
  ['was cancelled', 'cancelled', { ...expired, cancelledAt: ago(MINUTE) }],
  [
    'was cancelled before its payment',
    'late',
    { ...expired, cancelledAt: ago(MINUTE), deposits: [aDeposit()] },
  ],
  ['has expired before a payment in the mempool', 'late', { ...expired, mempoolPayments: [waiting] }],
  ['has expired with a dropped payment', 'expired', { ...expired, mempoolPayments: [dropped] }],
  ['has expired before its payment', 'late', { ...expired, deposits: [aDeposit()] }],
  [
    'has expired before a payment that is settled',
    'late',
    { ...expired, deposits: [aDeposit({ state: 'settled' })] },
  ],
  [
    'has expired before a payment that may come back',
    'late',
    { ...expired, deposits: [aDeposit({ state: 'missing' })] },
  ],
  [
    'has expired with nothing left of its payments',
    'expired',
    { ...expired, deposits: [aDeposit({ state: 'dropped' }), aDeposit({ state: 'reversed' })] },
  ],
  [
    'has expired with one left of its payments',
    'late',
    { ...expired, deposits: [aDeposit({ state: 'dropped' }), aDeposit()] },
  ],
];

test.each(rows)('an invoice that %s is shown as %s', (_, state, shown) => {
  expect(stateOf(shown)).toBe(state);
});

test('some invoice is shown in each state', () => {
  expect(new Set(pageStates)).toEqual(new Set(rows.map(([, state]) => state)));
});

describe('an invoice whose time is over while its chain is read late', () => {
  const late = { ...over, isLate: true, syncedAt: ago(MINUTE + 1) };
  const dayOver = { expiresAt: ago(EXTENDED_MAX_MS), isLate: true, syncedAt: null };
  test.each<Row>([
    ['since before its end', 'waiting', late],
    ['since before its end, with a part of it paid', 'short', { ...late, ...half }],
    ['since its end', 'waiting', { ...late, syncedAt: over.expiresAt }],
    ['since after its end', 'over', { ...late, syncedAt: ago(MINUTE - 1) }],
    ['since ever', 'waiting', { ...late, syncedAt: null }],
    ['for so short that it counts as no delay', 'over', { ...late, isLate: false }],
    ['and that was cancelled', 'over', { ...late, cancelledAt: over.expiresAt }],
    ['for the day by which it can be extended', 'waiting', dayOver],
    ['for longer than it can be extended', 'over', { ...dayOver, expiresAt: ago(EXTENDED_MAX_MS + 1) }],
  ])('%s is shown as %s', (_, state, shown) => {
    expect(stateOf(shown)).toBe(state);
  });
});

describe('the surplus of an invoice over 1,000', () => {
  const both = { ...confirmed, pendingAmount: units(600n) };
  const dustless = { ...paid, dust: NONE };
  test.each<[string, Partial<Invoice>, bigint, bigint | undefined]>([
    ['is nothing when it is paid exactly', paid, 0n, undefined],
    ['is nothing when it is paid within its tolerance', { ...paid, paidAmount: units(990n) }, 0n, undefined],
    ['is nothing below the smallest amount', { ...paid, paidAmount: units(1_009n) }, 0n, undefined],
    ['is what is paid beyond it', { ...paid, paidAmount: units(1_010n) }, 0n, 10n],
    ['is nothing once a refund has taken of it', { ...paid, paidAmount: units(1_010n) }, 1n, undefined],
    ['leaves out what is on the way to a paid one', { ...paid, pendingAmount: units(500n) }, 0n, undefined],
    ['includes what waits for its blocks before', { ...both, paidAmount: units(410n) }, 0n, 10n],
    ['is one unit where no amount is too small', { ...dustless, paidAmount: units(1_001n) }, 0n, 1n],
    ['is nothing where no amount is too small either', dustless, 0n, undefined],
  ])('%s', (_, given, refunded, surplus) => {
    expect(surplusOf({ ...invoice, ...given }, units(refunded))).toBe(surplus);
  });
});

test('what is seen of an amount is all of it until it is paid, and then what is confirmed', () => {
  const seen = { pendingAmount: units(200n), paidAmount: units(900n) };
  const states = [half, confirmed, paid];
  expect(states.map((state) => amountSeen({ ...invoice, ...state, ...seen }))).toEqual([
    1_100n,
    1_100n,
    900n,
  ]);
});

describe('the confirmations of a payment at block 104', () => {
  const small = aDeposit({ amount: units(9n), isHeld: true });
  const nearlyDone = aDeposit({ blockHeight: 94 });
  const quick = aDeposit({ blockHeight: 103, minConfirmations: 6 });
  const five = { confirmations: 5, needed: 12 };
  test.each<[string, Deposit[], ReturnType<typeof confirmationProgress>]>([
    ['count the blocks from its own on', [aDeposit()], five],
    [
      'are complete once there are enough',
      [aDeposit({ blockHeight: 90 })],
      { confirmations: 12, needed: 12 },
    ],
    [
      'are complete once it is settled, though the chain is shorter now',
      [aDeposit({ state: 'settled' })],
      { confirmations: 12, needed: 12 },
    ],
    ['are not shown without a payment', [], undefined],
    ['are not shown while no block has it', [aDeposit({ state: 'dropped' })], undefined],
    ['are not shown of another asset', [aDeposit({ asset: 'USDC_ERC20' })], undefined],
    ['are not shown of too little to count', [aDeposit({ amount: units(9n) })], undefined],
    ['are not shown while one is held', [aDeposit(), aDeposit({ isHeld: true })], undefined],
    ['are shown while one that does not count is held', [small, aDeposit()], five],
    ['are those of the one that needs most blocks', [nearlyDone, quick], { confirmations: 2, needed: 6 }],
    ['are those of that one when it is the first', [quick, nearlyDone], { confirmations: 2, needed: 6 }],
  ])('%s', (_, deposits, shown) => {
    expect(confirmationProgress(invoice, deposits, 104)).toEqual(shown);
  });
});

test.each([
  [null, 10_000, true],
  [0, 10_000, false],
  [30_000, 10_000, false],
  [30_001, 10_000, true],
  [60_000, 60_000, false],
  [60_001, 60_000, true],
])(
  'a chain that was read %p ms ago, with outages from %p ms on, is read late: %p',
  (ms, outageMs, isLate) => {
    expect(isReadLate(ms === null ? null : ago(ms), NOW, outageMs)).toBe(isLate);
  },
);
