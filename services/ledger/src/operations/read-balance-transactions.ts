import { type AssetSymbol, assetSymbols } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import type { Queryable, Selection, Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { movementsOf, opOf, type Source, type TransactionType } from '../domain/balance-transaction.ts';
import type { Ports } from '../ports.ts';
import {
  allTransactions,
  type BalanceTransaction,
  placeOfTransaction,
  type TransactionFilter,
  type TransactionPlace,
  transactionPage,
  transfersOfSource,
} from '../store/balance-transactions.ts';

/** What a merchant asks for; null where nothing was given. */
export type WantedTransactions = {
  account: AccountId;
  asset: AssetSymbol | null;
  type: TransactionType | null;
  source: Source | null;
  createdFrom: Date | null;
  /** Included. */
  createdTo: Date | null;
  currency: Currency;
};

/** The ids of transactions that a page is beside. At most one is given. */
export type Cursors = { startingAfter: string | null; endingBefore: string | null };

/** One page of an account's balance transactions. Refused: the cursor that names none of them. */
export async function listBalanceTransactions(
  { db }: Pick<Ports, 'db'>,
  wanted: WantedTransactions,
  cursors: Cursors,
  limit: number,
): Promise<Result<{ items: BalanceTransaction[]; hasMore: boolean }, keyof Cursors>> {
  const place = await placeOf(db, wanted.account, cursors);
  if (!place.ok) return place;
  return ok(await transactionPage(db, await filterOf(db, wanted), place.value, limit));
}

/** All transactions that are wanted, for an export. */
export const selectBalanceTransactions =
  (wanted: WantedTransactions) =>
  async (trx: Trx): Promise<Selection<BalanceTransaction>> =>
    allTransactions(await filterOf(trx, wanted));

async function filterOf(db: Queryable, wanted: WantedTransactions): Promise<TransactionFilter> {
  const { account, asset, type, source, createdFrom, createdTo, currency } = wanted;
  return {
    account,
    assets: asset === null ? assetSymbols : [asset],
    ...(type === null ? { kind: null, reasons: null, isRefund: null } : movementsOf(type)),
    seqs: source === null ? null : await transfersOfSource(db, account, source),
    createdFrom,
    currency,
    // A millisecond has many times of Postgres.
    createdBefore: createdTo && new Date(createdTo.getTime() + 1),
  };
}

async function placeOf(
  db: Queryable,
  account: AccountId,
  { startingAfter, endingBefore }: Cursors,
): Promise<Result<TransactionPlace, keyof Cursors>> {
  const id = startingAfter ?? endingBefore;
  if (id === null) return ok('newest');
  const op = opOf(id);
  const seq = op === undefined ? undefined : await placeOfTransaction(db, account, op);
  if (seq === undefined) return refuse(startingAfter === null ? 'endingBefore' : 'startingAfter');
  return ok(startingAfter === null ? { newerThan: seq } : { olderThan: seq });
}
