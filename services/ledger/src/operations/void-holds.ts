import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import type { Ports } from '../ports.ts';
import { leaveTombstones } from '../store/holds.ts';
import { endHolds } from './end-holds.ts';

/** Gives payouts up: what was held comes back, and what was not held yet can never be. */
export async function voidHolds(
  trx: Trx,
  events: readonly EventOf<'hold.void'>[],
  ports: Pick<Ports, 'logger'>,
): Promise<void> {
  if (events.length === 0) return;
  const payouts = events.map(({ payload }) => ({
    id: payload.payout_id as PayoutId,
    account: payload.account_id as AccountId,
    asset: payload.asset,
  }));
  // First, so that nothing can be placed between looking and leaving it.
  await leaveTombstones(trx, payouts);
  failpoint('ledger.tombstones_left');
  await endHolds(
    trx,
    payouts.map((payout) => ({ payout, end: { to: 'voided' } })),
    ports,
  );
}
