import { type CsvCell, csvLine, csvTable, number, numberOrNothing } from '@quittance/shared/csv';
import type { Currency } from '@quittance/shared/currencies';
import { balanceTransactionView, type StatementView, unresolvedView } from './views.ts';

/** The balance transactions of an account. */
export const transactionsTable = (currency: Currency) =>
  csvTable(balanceTransactionView(currency), {
    id: ({ id }) => id,
    created_at: ({ created_at }) => created_at,
    type: ({ type }) => type,
    asset: ({ asset }) => asset.symbol,
    amount: ({ amount }) => number(amount),
    fee: ({ fee }) => number(fee),
    net: ({ net }) => number(net),
    balance_after: ({ balance_after }) => number(balance_after),
    usd_rate: ({ usd_rate }) => numberOrNothing(usd_rate),
    usd_value: ({ usd_value }) => numberOrNothing(usd_value),
    currency: ({ currency }) => currency,
    currency_usd_rate: ({ currency_usd_rate }) => numberOrNothing(currency_usd_rate),
    value: ({ value }) => numberOrNothing(value),
    source_type: ({ source }) => source.type,
    source_id: ({ source }) => String(source.id),
    payout_id: ({ payout_id }) => (payout_id === null ? null : String(payout_id)),
  });

/** The unresolved deposits of an account. */
export const unresolvedTable = csvTable(unresolvedView, {
  id: ({ id }) => id,
  created_at: ({ created_at }) => created_at,
  status: ({ status }) => status,
  reason: ({ reason }) => reason,
  asset: ({ asset }) => asset.symbol,
  amount: ({ amount }) => number(amount),
  returning_amount: ({ returning_amount }) => number(returning_amount),
  returned_amount: ({ returned_amount }) => number(returned_amount),
  invoice_id: ({ invoice_id }) => invoice_id,
  tx_hash: ({ tx_hash }) => tx_hash,
  payout_id: ({ payout_id }) => (payout_id === null ? null : String(payout_id)),
  resolved_at: ({ resolved_at }) => resolved_at,
});

const statementHead = 'month,asset,entry,count,amount,fee,net,balance,currency,value,without_value'.split(
  ',',
);

/** The balances have a column of their own: those of amounts, fees and nets can be summed. */
export function statementCsv(statement: StatementView): string {
  const { month, asset, currency, opening_balance: opening, closing_balance: closing, entries } = statement;
  const line = (name: string, ...cells: CsvCell[]) => csvLine([month, asset.symbol, name, ...cells]);
  return [
    csvLine(statementHead),
    line('opening_balance', null, null, null, null, number(opening), null, null, null),
    ...entries.map(({ type, count, amount, fee, net, value, without_value }) =>
      line(
        type,
        number(String(count)),
        number(amount),
        number(fee),
        number(net),
        null,
        currency,
        number(value),
        number(String(without_value)),
      ),
    ),
    line('closing_balance', null, null, null, null, number(closing), null, null, null),
  ].join('');
}
