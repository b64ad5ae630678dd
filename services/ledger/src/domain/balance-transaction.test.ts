import { expect, it } from '@jest/globals';
import { units } from '@quittance/shared/money';
import {
  movementsOf,
  opOf,
  partsOf,
  sourceOf,
  transactionIdOf,
  transactionTypes,
  typeOf,
} from './balance-transaction.ts';
import { parseMonth, statementOf } from './statement.ts';

it.each(transactionTypes)('the movements of the type %s have this type', (type) => {
  const { kind, reasons } = movementsOf(type);
  for (const detail of reasons ?? ['whatever']) expect(typeOf({ kind, detail })).toBe(type);
});

it('a transfer of a kind without a type is a defect', () => {
  expect(() => typeOf({ kind: 'settle', detail: '' })).toThrow('has a type');
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
  expect(sourceOf('accept', 'accept:dep_1', 'inv_1')).toEqual(deposit);
  expect(sourceOf('deposit', 'deposit:dep_1', null)).toEqual(deposit);
  expect(sourceOf('recovery', 'recovery:dep_1:freed:9', 'inv_1')).toEqual({ type: 'invoice', id: 'inv_1' });
  expect(sourceOf('release', 'release:9', null)).toEqual({ type: 'payout', id: '9' });
});

it('a month begins and ends in UTC, and a year may end with it', () => {
  const [from, to] = [new Date('2026-12-01T00:00:00Z'), new Date('2027-01-01T00:00:00Z')];
  expect(parseMonth('2026-12')).toEqual({ name: '2026-12', from, to });
  for (const text of ['2026-13', '2026-1', '26-01', '2026-01-01', '0000-01'])
    expect(parseMonth(text)).toBeUndefined();
});

it('a statement is counted back from the balance, over what came after its month', () => {
  const movement = { kind: 'deposit', detail: '', count: 1, net: units(5n), networkFee: units(0n) };
  const { opening, closing, lines } = statementOf(units(100n), [
    { ...movement, later: false },
    { ...movement, later: true, net: units(20n) },
  ]);
  expect([opening, closing, lines.length]).toEqual([75n, 80n, 1]);
});
