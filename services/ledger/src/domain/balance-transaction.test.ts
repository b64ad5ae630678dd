import { expect, it } from '@jest/globals';
import { cents, units } from '@quittance/shared/money';
import {
  movementsOf,
  opOf,
  parseSource,
  partsOf,
  payoutOf,
  sourceOf,
  transactionIdOf,
  transactionTypes,
  typeOf,
} from './balance-transaction.ts';
import { parseMonth, statementOf } from './statement.ts';

it.each(transactionTypes)('the movements of the type %s have this type', (type) => {
  const { kind, reasons, isRefund } = movementsOf(type);
  expect(reasons).not.toEqual([]);
  for (const detail of reasons ?? ['whatever']) {
    for (const one of isRefund === null ? [false, true] : [isRefund])
      expect(typeOf({ kind, detail, isRefund: one })).toBe(type);
  }
});

const moving = ['deposit', 'reversal', 'recovery', 'accept', 'hold'].map((kind) => ({ kind, detail: '' }));
const releases = ['failed', 'failed_fee_kept', 'voided'].map((detail) => ({ kind: 'release', detail }));

it('a list can be filtered by the type of each transfer that moves a balance, and by no other', () => {
  const types = [...moving, ...releases].flatMap((transfer) =>
    [false, true].map((isRefund) => typeOf({ ...transfer, isRefund })),
  );
  expect([...new Set(types)].toSorted()).toEqual([...transactionTypes].toSorted());
});

it.each([
  ['payment', 'deposit', null, null],
  ['payout', 'hold', null, false],
  ['refund', 'hold', null, true],
  ['payout_failed', 'release', ['failed', 'failed_fee_kept'], false],
  ['refund_voided', 'release', ['voided'], true],
] as const)(
  'the movements of the type %s are transfers of the kind %s for the reasons %j, of refunds: %p',
  (type, kind, reasons, isRefund) => {
    expect(movementsOf(type)).toEqual({ kind, reasons, isRefund });
  },
);

it('a transfer of a kind without a type is a defect', () => {
  expect(() => typeOf({ kind: 'settle', detail: '', isRefund: false })).toThrow('has a type');
});

it.each([
  ['hold', '', -12n, { amount: -10n, fee: 2n }],
  ['release', 'failed', 12n, { amount: 10n, fee: -2n }],
  ['release', 'failed_fee_kept', 10n, { amount: 10n, fee: 0n }],
  ['deposit', 'credit', 10n, { amount: 10n, fee: 0n }],
])('the parts of a %s %s show what happened to the network fee', (kind, detail, net, parts) => {
  expect(partsOf({ kind, detail }, units(net), units(2n))).toEqual(parts);
});

it('the id of a transaction leads back to its op, and another text to none', () => {
  for (const op of ['hold:7', 'deposit:dep_0a', 'recovery:dep_0a:settled:dep_0b']) {
    expect(opOf(transactionIdOf(op))).toBe(op);
  }
  for (const text of ['hold-7', 'txn_', 'txn_hold', 'txn_hold-7;', 'txn_hold-7%'])
    expect(opOf(text)).toBeUndefined();
});

it('an accepted deposit is its own source, and a payment without a known invoice too', () => {
  const deposit = { type: 'deposit', id: 'dep_1' };
  const invoice = { type: 'invoice', id: 'inv_1' };
  expect(sourceOf('accept', 'accept:dep_1', 'inv_1', null)).toEqual(deposit);
  expect(sourceOf('deposit', 'deposit:dep_1', null, null)).toEqual(deposit);
  expect(sourceOf('recovery', 'recovery:dep_1:freed:9', 'inv_1', null)).toEqual(invoice);
  for (const kind of ['hold', 'release'])
    expect(sourceOf(kind, `${kind}:9`, null, null)).toEqual({ type: 'payout', id: '9' });
});

it('the source of a refund is what it pays back, and its payout is named beside it', () => {
  expect(sourceOf('hold', 'hold:9', null, 'inv_1')).toEqual({ type: 'invoice', id: 'inv_1' });
  expect(sourceOf('release', 'release:9', null, 'dep_1')).toEqual({ type: 'deposit', id: 'dep_1' });
  expect(['hold:9', 'release:9', 'deposit:dep_1'].map((op) => payoutOf(op.split(':')[0] ?? '', op))).toEqual([
    '9',
    '9',
    null,
  ]);
});

it('a month begins and ends in UTC, and a year may end with it', () => {
  const [from, to] = [new Date('2026-12-01T00:00:00Z'), new Date('2027-01-01T00:00:00Z')];
  expect(parseMonth('2026-12')).toEqual({ name: '2026-12', from, to });
  for (const text of ['2026-13', '2026-1', '26-01', '2026-01-01', '0000-01'])
    expect(parseMonth(text)).toBeUndefined();
});

it('a statement is counted back from the balance, over what came after its month', () => {
  const movement = {
    kind: 'deposit',
    detail: '',
    isRefund: false,
    count: 1,
    net: units(5n),
    networkFee: units(0n),
    value: cents(7n),
    withoutValue: 1,
  };
  const { opening, closing, lines } = statementOf(units(100n), [
    { ...movement, later: false },
    { ...movement, later: true, net: units(20n) },
  ]);
  expect([opening, closing, lines.length]).toEqual([75n, 80n, 1]);
});

it.each([
  ['17', { type: 'payout', id: '17' }],
  ['1'.repeat(16), { type: 'payout', id: '1'.repeat(16) }],
  ['1'.repeat(17), undefined],
  ['inv_a1', { type: 'invoice', id: 'inv_a1' }],
  ['dep_a1', { type: 'deposit', id: 'dep_a1' }],
  ['acc_a1', undefined],
  ['inv_', undefined],
])('the source of a transaction that is written as %s is %p', (text, source) => {
  expect(parseSource(text)).toEqual(source);
});

it('a statement counts the movements of each type and of all, and leaves later ones out of the closing balance', () => {
  const sums = { later: false, isRefund: false, networkFee: units(0n), value: cents(3n), withoutValue: 1 };
  const statement = statementOf(units(100n), [
    { ...sums, kind: 'deposit', detail: 'credit', count: 2, net: units(40n) },
    { ...sums, kind: 'hold', detail: '', count: 1, net: units(-12n), networkFee: units(2n) },
    { ...sums, kind: 'hold', detail: '', count: 3, net: units(-6n) },
    { ...sums, kind: 'hold', detail: '', isRefund: true, count: 1, net: units(-4n) },
    { ...sums, kind: 'deposit', detail: 'credit', count: 5, net: units(30n), later: true },
  ]);
  expect(statement).toMatchObject({
    opening: 52n,
    lines: [
      { count: 2, amount: 40n, fee: 0n, net: 40n },
      { type: 'payout', count: 4, amount: -16n, fee: 2n, net: -18n, value: 6n, withoutValue: 2 },
      { type: 'refund', count: 1, net: -4n },
    ],
    total: { count: 7, net: 18n, value: 12n, withoutValue: 4 },
    closing: 70n,
  });
});
