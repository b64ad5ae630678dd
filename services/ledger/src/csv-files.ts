import { type CsvCell, csvLine } from '@quittance/shared/csv';
import type { BalanceTransaction } from './store/balance-transactions.ts';
import { balanceTransactionView, type StatementView } from './views.ts';

const number = (text: string): CsvCell => ({ number: text });
const numberOrNothing = (text: string | null): CsvCell => (text === null ? null : number(text));

export const transactionsCsvHead = csvLine([
  ...['id', 'created_at', 'type', 'asset', 'amount', 'fee', 'net', 'balance_after', 'usd_rate', 'usd_value'],
  ...['source_type', 'source_id'],
]);

export function transactionCsvLine(transaction: BalanceTransaction): string {
  const view = balanceTransactionView(transaction);
  return csvLine([
    view.id,
    view.created_at,
    view.type,
    view.asset.symbol,
    number(view.amount),
    number(view.fee),
    number(view.net),
    number(view.balance_after),
    numberOrNothing(view.usd_rate),
    numberOrNothing(view.usd_value),
    view.source.type,
    String(view.source.id),
  ]);
}

/** The balances have a column of their own: those of amounts, fees and nets can be summed. */
export function statementCsv(statement: StatementView): string {
  const { month, asset, opening_balance: opening, closing_balance: closing, entries } = statement;
  const line = (name: string, ...cells: CsvCell[]) => csvLine([month, asset.symbol, name, ...cells]);
  return [
    csvLine(['month', 'asset', 'entry', 'count', 'amount', 'fee', 'net', 'balance']),
    line('opening_balance', null, null, null, null, number(opening)),
    ...entries.map(({ type, count, amount, fee, net }) =>
      line(type, number(String(count)), number(amount), number(fee), number(net), null),
    ),
    line('closing_balance', null, null, null, null, number(closing)),
  ].join('');
}
