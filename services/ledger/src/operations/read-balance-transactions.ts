import { type AssetSymbol, assetSymbols } from '@quittance/shared/assets';
import type { Queryable } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { movementsOf, opOf, type Source, type TransactionType } from '../domain/balance-transaction.ts';
import type { Ports } from '../ports.ts';
import {
  type BalanceTransaction,
  openTransactions,
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

/**
 * Reads all transactions that are wanted, a few hundred at a time, and has `send` pass them on. The first are read before:
 * what fails until then can still be answered.
 */
export function exportBalanceTransactions(
  { db }: Pick<Ports, 'db'>,
  wanted: WantedTransactions,
  send: (batches: AsyncIterable<BalanceTransaction[]>) => Promise<void>,
): Promise<void> {
  return db.transaction(async (trx) => {
    const next = await openTransactions(trx, await filterOf(trx, wanted));
    const first = await next();
    async function* batches() {
      for (let rows = first; rows.length > 0; rows = await next()) yield rows;
    }
    await send(batches());
  });
}

async function filterOf(db: Queryable, wanted: WantedTransactions): Promise<TransactionFilter> {
  const { account, asset, type, source, createdFrom, createdTo } = wanted;
  return {
    account,
    assets: asset === null ? assetSymbols : [asset],
    ...(type === null ? { kind: null, reasons: null } : movementsOf(type)),
    seqs: source === null ? null : await transfersOfSource(db, account, source),
    createdFrom,
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
