import type { AssetSymbol } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import type { Db, Queryable, Trx } from '@quittance/shared/db';
import { type Units, units } from '@quittance/shared/money';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import {
  type FundsOfAsset,
  fundsOf,
  listFunds,
  noteFunds,
  type OperatorFunds,
  sumsOfFunds,
} from '../store/operator-funds.ts';

/** `note` writes the audit log, in the same transaction. */
type FundsPorts = { db: Pick<Db, 'transaction'>; clock: Clock; note: (trx: Trx) => Promise<void> };

/**
 * Notes that an operator has taken money of its own from the hot wallet, so that it is not missed.
 * @returns what the operator has left
 */
export async function noteWithdrawal(
  { db, clock, note }: FundsPorts,
  { asset, amount }: { asset: AssetSymbol; amount: Units },
): Promise<Result<Units, 'never_measured'>> {
  invariant(amount > 0n, 'a withdrawal takes something');
  return await db.transaction(async (trx) => {
    const before = await fundsOf(trx, asset);
    if (before === undefined) return refuse('never_measured');
    await noteFunds(trx, { asset, amount: units(-amount), cause: 'withdrawn', notedAt: clock.now() });
    await note(trx);
    return ok(units(before - amount));
  });
}

/** What the operator has of each asset, and all that was noted of it, in that order. */
export const knownFunds = async (
  db: Queryable,
): Promise<{ sums: FundsOfAsset[]; changes: OperatorFunds[] }> => ({
  sums: await sumsOfFunds(db),
  changes: await listFunds(db),
});
