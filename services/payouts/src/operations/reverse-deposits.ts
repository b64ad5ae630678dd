import type { Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import { depositOf, insertHoldings, reverseHoldings } from '../store-holdings.ts';

/** Money that was final is gone. It may be told before the deposit itself: then it is never counted at all. */
export async function reverseDeposits(
  trx: Trx,
  told: readonly PayloadOf<'deposit.reversed'>[],
): Promise<void> {
  await insertHoldings(trx, told.map(depositOf));
  await reverseHoldings(
    trx,
    told.map((deposit) => deposit.deposit_id),
  );
}
