import type { Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import { depositOf, insertHoldings } from '../store-holdings.ts';

/** Money on our deposit addresses is final: the treasury may use it, whoever it belongs to. */
export async function recordDeposits(trx: Trx, told: readonly PayloadOf<'deposit.settled'>[]): Promise<void> {
  await insertHoldings(trx, told.map(depositOf));
}
