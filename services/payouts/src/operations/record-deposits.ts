import { chainKinds } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { chainWorkers } from '../chain-workers.ts';
import { depositOf, insertDepositsOnce, markDepositsReversed } from '../store/unswept-deposits.ts';

/** Records settled deposits. Payouts may be paid from them from now on. */
export async function recordDeposits(
  trx: Trx,
  events: readonly Pick<EventOf<'deposit.settled'>, 'payload'>[],
): Promise<void> {
  const deposits = events.map(({ payload }) => depositOf(payload));
  await insertDepositsOnce(trx, deposits);
  for (const [kind, ofKind] of Map.groupBy(deposits, ({ chain }) => chainKinds[chain])) {
    await chainWorkers[kind].recordDeposits?.(trx, ofKind);
  }
}

/** Records that settled deposits were dropped. A reversal may arrive before its deposit, which then never counts. */
export async function reverseDeposits(
  trx: Trx,
  events: readonly Pick<EventOf<'deposit.reversed'>, 'payload'>[],
): Promise<void> {
  const deposits = events.map(({ payload }) => depositOf(payload));
  await insertDepositsOnce(trx, deposits);
  await markDepositsReversed(
    trx,
    deposits.map(({ depositId }) => depositId),
  );
  for (const [kind, ofKind] of Map.groupBy(deposits, ({ chain }) => chainKinds[chain])) {
    await chainWorkers[kind].reverseDeposits?.(trx, ofKind);
  }
}
