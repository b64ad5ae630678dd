import {
  asset,
  count,
  currency,
  decimal,
  flag,
  id,
  oneOf,
  payoutId,
  reducedAsset,
  signedDecimal,
  time,
} from '@quittance/shared/answer-schemas';
import { documented, type Operation, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { transactionTypes } from '../domain/balance-transaction.ts';
import { statementForm, transactionFilters } from '../http/books.ts';
import type { assetView, balanceTransactionView, balanceView, statementView } from '../views.ts';

export const balance = viewed<ReturnType<typeof balanceView>>()(
  z
    .strictObject({
      asset,
      balance: decimal('What can be spent, in the asset.'),
      usd_value: decimal('`balance` in US dollars now.'),
      held: decimal('What belongs to pending payouts.'),
    })
    .meta({ id: 'Balance', description: 'The balance of an asset.' }),
);

const assets = z
  .array(viewed<ReturnType<typeof assetView>>()(asset))
  .describe('The assets, in the order of their ids.');

type Transaction = ReturnType<ReturnType<typeof balanceTransactionView>>;
export const transaction = viewed<Transaction>()(
  z
    .strictObject({
      id: z
        .string()
        .regex(/^txn_[a-z]+-[\w-]+$/)
        .describe('The id of the balance transaction.'),
      type: oneOf(transactionTypes, 'What moved the balance.'),
      asset: reducedAsset,
      amount: signedDecimal('What moved without the network fee.'),
      fee: signedDecimal('The network fee; below zero when it returns.'),
      net: signedDecimal('What the balance changed by: `amount` less `fee`.'),
      balance_after: decimal('What could be spent of the asset afterwards.'),
      usd_rate: decimal('US dollars for one whole asset then, or null.').nullable(),
      usd_value: signedDecimal('`net` in US dollars at that rate, or null.').nullable(),
      currency: currency.describe('What `value` is in.'),
      currency_usd_rate: decimal('US dollars for one unit of the currency then, or null.').nullable(),
      value: signedDecimal('`net` in the currency, or null.').nullable(),
      source: z
        .union([
          z.strictObject({
            type: z.literal('invoice').describe('An invoice.'),
            id: id('inv', 'The id of the invoice.'),
          }),
          z.strictObject({
            type: z.literal('deposit').describe('Unresolved funds, or a payment of an unknown invoice.'),
            id: id('dep', 'The id of the deposit.'),
          }),
          z.strictObject({
            type: z.literal('payout').describe('A payout.'),
            id: payoutId('The id of the payout.'),
          }),
        ])
        .describe('What caused it.'),
      payout_id: payoutId('The payout that moved it, or null.').nullable(),
      created_at: time('When it was booked.'),
    })
    .meta({ id: 'BalanceTransaction', description: 'A movement of a balance.' }),
);

const sums = {
  count: count('How many balance transactions.'),
  amount: signedDecimal('The sum of their amounts.'),
  fee: signedDecimal('The sum of their fees.'),
  net: signedDecimal('What they changed the balance by.'),
  value: signedDecimal('The sum of their values, in the currency.'),
  without_value: count('How many of them have no value.'),
};

export const statement = viewed<ReturnType<typeof statementView>>()(
  z
    .strictObject({
      month: z
        .string()
        .regex(/^\d{4}-\d{2}$/)
        .describe('The month.'),
      asset: reducedAsset,
      currency: currency.describe('What values are in.'),
      from: time('The first moment of the month (UTC).'),
      to: time('The first moment after it.'),
      complete: flag('Whether it changes no more.'),
      opening_balance: decimal('What could be spent at its beginning.'),
      entries: z
        .array(
          z.strictObject({ type: oneOf(transactionTypes, 'The type of the balance transactions.'), ...sums }),
        )
        .describe('The sums of each type that occurred.'),
      total: z.strictObject(sums).describe('The sums of all entries.'),
      closing_balance: decimal('What could be spent at its end, or until now.'),
      generated_at: time('When it was computed.'),
    })
    .meta({ id: 'Statement', description: 'The month of an asset.' }),
);

const transactionTexts = {
  limit: 'At most so many. Default: 10.',
  starting_after: 'The id after which the page begins: older ones.',
  ending_before: 'The id before which the page ends: newer ones. Not together with `starting_after`.',
  asset: 'Only those of this asset.',
  type: 'Only those of this type.',
  source: 'Only those of this invoice, payout or deposit.',
  created_from: 'Booked at this moment or later.',
  created_to: 'Booked at this moment or earlier.',
  currency: 'What `value` is in.',
  format: '`csv` answers a file of all that the filters match.',
};

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/balances',
    operationId: 'listBalances',
    tag: 'Balances',
    summary: 'Read the balances',
    answers: {
      200: {
        description: 'One entry for each active asset.',
        json: z.strictObject({ data: z.array(balance).describe('The balances.') }),
      },
    },
    errors: [],
  },
  {
    method: 'get',
    path: '/api/balance-transactions',
    operationId: 'listBalanceTransactions',
    tag: 'Balances',
    summary: 'List balance transactions',
    description: 'Every movement of what can be spent, newest first.',
    query: documented(transactionFilters.schema.shape, transactionTexts),
    answers: {
      200: {
        description: 'A part of the list.',
        json: z
          .strictObject({
            data: z.array(transaction).describe('The balance transactions.'),
            has_more: flag('Whether there are more in the direction of the cursor.'),
          })
          .meta({ id: 'BalanceTransactionPage', description: 'A part of the list.' }),
        others: { 'text/csv': 'All balance transactions that the filters match, one row each.' },
      },
    },
    errors: [],
  },
  {
    method: 'get',
    path: '/api/statements',
    operationId: 'getStatement',
    tag: 'Balances',
    summary: 'Read the statement of a month',
    description: 'Opening balance, sums by type and closing balance of one asset.',
    query: documented(
      {
        ...statementForm.schema.shape,
        month: statementForm.schema.shape.month.meta({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$' }),
      },
      {
        month: 'A month (UTC) that has begun, such as 2026-11.',
        asset: 'The symbol of the asset.',
        currency: 'What values are in.',
        format: '`csv` answers a file, `html` a page to print.',
      },
    ),
    answers: {
      200: {
        description: 'The statement, as the body itself.',
        json: statement,
        others: { 'text/csv': 'The statement, one row for each entry.', 'text/html': 'A page to print.' },
      },
    },
    errors: [],
  },
  {
    method: 'get',
    path: '/api/assets',
    operationId: 'listAssets',
    tag: 'Assets',
    summary: 'List the assets',
    answers: { 200: { description: 'The active assets.', json: z.strictObject({ data: assets }) } },
    errors: [],
  },
];
