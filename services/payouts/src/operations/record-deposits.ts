import { chainKinds } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import { engines } from '../chain-workers.ts';
import { depositOf, insertHoldings, reverseHoldings } from '../store/unswept-deposits.ts';

/** Money on our deposit addresses is final: the treasury may use it, whoever it belongs to. */
export async function recordDeposits(trx: Trx, told: readonly PayloadOf<'deposit.settled'>[]): Promise<void> {
  const deposits = told.map(depositOf);
  await insertHoldings(trx, deposits);
  for (const [kind, ofKind] of Map.groupBy(deposits, ({ chain }) => chainKinds[chain])) {
    await engines[kind].recordDeposits?.(trx, ofKind);
  }
}

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
