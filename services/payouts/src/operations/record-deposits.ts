import { chainKinds } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import { engines } from '../engines.ts';
import { depositOf, insertHoldings } from '../store-holdings.ts';

/** Money on our deposit addresses is final: the treasury may use it, whoever it belongs to. */
export async function recordDeposits(trx: Trx, told: readonly PayloadOf<'deposit.settled'>[]): Promise<void> {
  const deposits = told.map(depositOf);
  await insertHoldings(trx, deposits);
  for (const [kind, ofKind] of Map.groupBy(deposits, ({ chain }) => chainKinds[chain])) {
    await engines[kind].recordDeposits?.(trx, ofKind);
  }
}
