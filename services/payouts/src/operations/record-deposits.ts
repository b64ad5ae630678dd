import { chainKinds } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import { chainWorkers } from '../chain-workers.ts';
import { depositOf, insertDepositsOnce, markDepositsReversed } from '../store/unswept-deposits.ts';

/** Money on our deposit addresses is final: payouts may use it. */
export async function recordDeposits(
  trx: Trx,
  payloads: readonly PayloadOf<'deposit.settled'>[],
): Promise<void> {
  const deposits = payloads.map(depositOf);
  await insertDepositsOnce(trx, deposits);
  for (const [kind, ofKind] of Map.groupBy(deposits, ({ chain }) => chainKinds[chain])) {
    await chainWorkers[kind].recordDeposits?.(trx, ofKind);
  }
}

/** Money that was final is gone. The reversal may come before the deposit itself: then it is never counted. */
export async function reverseDeposits(
  trx: Trx,
  payloads: readonly PayloadOf<'deposit.reversed'>[],
): Promise<void> {
  const deposits = payloads.map(depositOf);
  await insertDepositsOnce(trx, deposits);
  await markDepositsReversed(
    trx,
    deposits.map(({ depositId }) => depositId),
  );
  for (const [kind, ofKind] of Map.groupBy(deposits, ({ chain }) => chainKinds[chain])) {
    await chainWorkers[kind].reverseDeposits?.(trx, ofKind);
  }
}
