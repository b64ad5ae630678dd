import type { Trx } from '@quittance/shared/db';
import { insertDepositCoins, reverseDepositCoins } from '../../store-coins.ts';
import type { Deposit } from '../../store-holdings.ts';

/** Settled deposits are outputs that can be spent, whoever they belong to. */
export const recordCoins = (trx: Trx, deposits: readonly Deposit[]): Promise<void> =>
  insertDepositCoins(trx, deposits);

/** Outputs that were settled and are gone: never chosen again. It may be told before the deposit itself. */
export async function reverseCoins(trx: Trx, deposits: readonly Deposit[]): Promise<void> {
  await insertDepositCoins(trx, deposits);
  await reverseDepositCoins(
    trx,
    deposits.map(({ depositId }) => depositId),
  );
}
