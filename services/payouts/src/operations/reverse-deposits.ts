import { chainKinds } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import { engines } from '../engines.ts';
import { depositOf, insertHoldings, reverseHoldings } from '../store-holdings.ts';

/** Money that was final is gone. It may be told before the deposit itself: then it is never counted at all. */
export async function reverseDeposits(
  trx: Trx,
  told: readonly PayloadOf<'deposit.reversed'>[],
): Promise<void> {
  const deposits = told.map(depositOf);
  await insertHoldings(trx, deposits);
  await reverseHoldings(
    trx,
    deposits.map(({ depositId }) => depositId),
  );
  for (const [kind, ofKind] of Map.groupBy(deposits, ({ chain }) => chainKinds[chain])) {
    await engines[kind].reverseDeposits?.(trx, ofKind);
  }
}
