import { assetSymbols } from '@quittance/shared/assets';
import { type CsvExports, partErrors, sendCsvHead, wantsCsv } from '@quittance/shared/csv-export';
import { currencyCodes } from '@quittance/shared/currencies';
import { form } from '@quittance/shared/form';
import { contextOf } from '@quittance/shared/http';
import { answers, send } from '@quittance/shared/http-answers';
import { sendPage } from '@quittance/shared/send-page';
import { messages, rules } from '@quittance/shared/validation';
import type { Express, RequestHandler } from 'express';
import { statementCsv, transactionsTable } from '../csv-files.ts';
import { parseSource, transactionTypes } from '../domain/balance-transaction.ts';
import { parseMonth, statementOf } from '../domain/statement.ts';
import {
  listBalanceTransactions,
  selectBalanceTransactions,
} from '../operations/read-balance-transactions.ts';
import type { Ports } from '../ports.ts';
import { statementPage } from '../statement-page.ts';
import { movementSums } from '../store/balance-transactions.ts';
import { balanceTransactionView, statementView } from '../views.ts';

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;
const CURSOR_CHARACTERS_MAX = 255;

export const transactionFilters = form({
  limit: rules.integer(1, LIMIT_MAX).optional,
  starting_after: rules.text(CURSOR_CHARACTERS_MAX).optional,
  ending_before: rules.text(CURSOR_CHARACTERS_MAX).optional,
  asset: rules.oneOf(assetSymbols).optional,
  type: rules.oneOf(transactionTypes).optional,
  source: rules.text(CURSOR_CHARACTERS_MAX).optional,
  created_from: rules.date().optional,
  created_to: rules.date().optional,
  currency: rules.oneOf(currencyCodes).or('USD' as const),
  format: rules.oneOf(['json', 'csv']).optional,
});

export const statementForm = form({
  month: rules.text(CURSOR_CHARACTERS_MAX).required,
  asset: rules.oneOf(assetSymbols).required,
  currency: rules.oneOf(currencyCodes).or('USD' as const),
  format: rules.oneOf(['json', 'csv', 'html']).optional,
});

export type BooksPorts = Pick<Ports, 'db' | 'clock'>;

/** What a bookkeeper reads: the movements of balances, and statements of months. */
export function addBooks(
  app: Express,
  merchant: RequestHandler,
  exports: CsvExports,
  ports: BooksPorts,
): void {
  app.get('/api/balance-transactions', merchant, async (req, res) => {
    const { account } = contextOf(res).identity;
    const filter = transactionFilters(req.query);
    if (!filter.ok) return send(res, answers.invalid(filter.refusal));
    const { limit, starting_after, ending_before, source, created_from, created_to, ...rest } = filter.value;
    const given = source === null ? null : parseSource(source);
    const isCsv = wantsCsv(req, rest.format);
    const errors = isCsv ? partErrors(req.query, ['limit', 'starting_after', 'ending_before']) : {};
    if (given === undefined) {
      errors['source'] = [messages.invalid('source', 'Give the id of an invoice, a payout or a deposit.')];
    }
    if (starting_after !== null && ending_before !== null) {
      errors['ending_before'] = [messages.invalid('ending_before', 'Give it without starting_after.')];
    }
    if (given === undefined || Object.keys(errors).length > 0) return send(res, answers.invalid(errors));
    const { asset, type, currency } = rest;
    const dates = { createdFrom: created_from, createdTo: created_to };
    const wanted = { account, asset, type, source: given, currency, ...dates };
    if (isCsv) {
      const select = selectBalanceTransactions(wanted);
      const table = transactionsTable(currency);
      return exports.send(res, { account, name: 'balance-transactions', table, select });
    }
    const cursors = { startingAfter: starting_after, endingBefore: ending_before };
    const page = await listBalanceTransactions(ports, wanted, cursors, limit ?? LIMIT_DEFAULT);
    if (!page.ok) {
      const name = page.refusal === 'startingAfter' ? 'starting_after' : 'ending_before';
      const problem = messages.invalid(name, 'Give the id of a balance transaction of this account.');
      return send(res, answers.invalid({ [name]: [problem] }));
    }
    const { items, hasMore } = page.value;
    send(res, {
      status: 200,
      body: { data: items.map(balanceTransactionView(currency)), has_more: hasMore },
    });
  });

  app.get('/api/statements', merchant, async (req, res) => {
    const { account } = contextOf(res).identity;
    const now = ports.clock.now();
    const wanted = statementForm(req.query);
    if (!wanted.ok) return send(res, answers.invalid(wanted.refusal));
    const { asset, format, currency } = wanted.value;
    const month = parseMonth(wanted.value.month);
    if (month === undefined || month.from > now) {
      const hint = `Give a month that has begun, such as ${now.toISOString().slice(0, 7)}.`;
      return send(res, answers.invalid({ month: [messages.invalid('month', hint)] }));
    }
    const { available, movements } = await movementSums(ports.db, { account, asset, currency, ...month });
    const view = statementView({ asset, currency }, month, statementOf(available, movements), now);
    if (format === 'html') return sendPage(res, statementPage(view));
    if (!wantsCsv(req, format)) return send(res, { status: 200, body: view });
    sendCsvHead(res, `statement-${month.name}-${asset}`);
    res.end(req.method === 'HEAD' ? undefined : statementCsv(view));
  });
}
