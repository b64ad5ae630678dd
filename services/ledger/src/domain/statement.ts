import { type Cents, cents, sum, type Units, units } from '@quittance/shared/money';
import {
  partsOf,
  type TransactionType,
  type TransferKind,
  transactionTypes,
  typeOf,
} from './balance-transaction.ts';

/** A month in UTC: from its first moment to before that of the next. */
export type Month = { name: string; from: Date; to: Date };

/** Reads `2026-11`; undefined where it is no month. */
export function parseMonth(name: string): Month | undefined {
  if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(name) || name.startsWith('0000')) return undefined;
  const from = new Date(`${name}-01T00:00:00.000Z`);
  const to = new Date(from);
  to.setUTCMonth(to.getUTCMonth() + 1);
  return { name, from, to };
}

/** Transfers of one kind and reason, summed up: those of the month, or of the time after it. */
export type MovementSum = TransferKind & {
  later: boolean;
  count: number;
  net: Units;
  networkFee: Units;
  /** Of the transfers that have one, in hundredths of the wanted currency. */
  value: Cents;
  /** How many transfers have no rate. */
  withoutValue: number;
};

type Sums = Pick<MovementSum, 'count' | 'net' | 'value' | 'withoutValue'> & { amount: Units; fee: Units };
export type StatementLine = Sums & { type: TransactionType };
export type MonthStatement = { opening: Units; lines: StatementLine[]; total: Sums; closing: Units };

/** The statement of a month, counted back from what the balance has now. */
export function statementOf(available: Units, movements: readonly MovementSum[]): MonthStatement {
  const later = movements.filter((one) => one.later);
  const lines = transactionTypes.flatMap((type) => {
    const ofType = movements.filter((one) => !one.later && typeOf(one) === type);
    return ofType.length === 0 ? [] : [{ type, ...addUp(ofType.map(sumsOf)) }];
  });
  const total = addUp(lines);
  const closing = units(available - sum(later.map(({ net }) => net)));
  return { opening: units(closing - total.net), lines, total, closing };
}

const sumsOf = (movement: MovementSum): Sums => {
  const { count, net, networkFee, value, withoutValue } = movement;
  return { count, net, value, withoutValue, ...partsOf(movement, net, networkFee) };
};

const addUp = (all: readonly Sums[]): Sums => ({
  count: all.reduce((count, one) => count + one.count, 0),
  value: cents(all.reduce((value, one) => value + one.value, 0n)),
  withoutValue: all.reduce((count, one) => count + one.withoutValue, 0),
  amount: sum(all.map(({ amount }) => amount)),
  fee: sum(all.map(({ fee }) => fee)),
  net: sum(all.map(({ net }) => net)),
});
