import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { endHold, type HoldEnd } from '../domain/hold.ts';
import type { Posting, ReleaseReason } from '../domain/posting.ts';
import type { Ports } from '../ports.ts';
import { markRefunded, reopenSuspense } from '../store/ended-returns.ts';
import { leaveTombstones, lockHolds, markHoldsEnded } from '../store/holds.ts';
import { reduceWriteOff, returnedPayments } from '../store/reversals.ts';
import { book } from '../store/transfers.ts';
import { recoverWriteOffs } from './recover-write-offs.ts';

type HoldEvent = EventOf<'hold.settle' | 'hold.release' | 'hold.void'>;

/** Gives payouts up: what was held comes back, and what was not held yet can never be. */
export async function voidHolds(
  trx: Trx,
  events: readonly EventOf<'hold.void'>[],
  ports: Pick<Ports, 'logger'>,
): Promise<void> {
  // First, so that nothing can be placed between looking and leaving it.
  await leaveTombstones(trx, events.map(payoutOf));
  failpoint('ledger.tombstones_left');
  await endHolds(trx, events, ports);
}

/**
 * Ends holds by events of one kind. Again is nothing; another way than before is a defect of the sender, for an operator to
 * look at.
 */
export async function endHolds(
  trx: Trx,
  events: readonly HoldEvent[],
  ports: Pick<Ports, 'logger'>,
): Promise<void> {
  const [first] = events;
  if (first === undefined) return;
  const { to } = endOf(first);
  const holds = await lockHolds(
    trx,
    events.map(({ payload }) => payload.payout_id as PayoutId),
  );
  const postings = new Map<PayoutId, Posting>();
  for (const event of events) {
    const payout = payoutOf(event);
    const decision = endHold(holds.get(payout.id), endOf(event), payout);
    if (!decision.ok) throw new Error(`the hold of payout ${payout.id} cannot be ${to}: ${decision.refusal}`);
    if (decision.value) postings.set(payout.id, decision.value);
  }
  if (postings.size === 0) return;
  const booked = await book(trx, [...postings.values()]);
  failpoint(`ledger.hold_${to}`);
  await markHoldsEnded(trx, [...postings.keys()], to);
  const refunds = [...postings].filter(([id]) => typeof holds.get(id)?.deposit === 'string');
  const ending = refunds.filter(([, { op }]) => booked.has(op));
  await endRefunds(trx, to, new Map(ending));
  const freed = ending.filter(([, { kind }]) => kind === 'release');
  if (freed.length > 0) await settleWriteOffs(trx, new Map(freed), ports);
}

function endOf(event: HoldEvent): HoldEnd {
  switch (event.kind) {
    case 'hold.settle':
      return { to: 'settled' };
    case 'hold.release':
      return { to: 'released', feeKept: event.payload.fee_kept };
    case 'hold.void':
      return { to: 'voided' };
  }
}

/** What payouts says of the payout: nothing of the amounts when it gives one up. */
const payoutOf = ({ payload }: HoldEvent) => ({
  id: payload.payout_id as PayoutId,
  account: payload.account_id as AccountId,
  asset: payload.asset,
  ...('amount' in payload ? { amount: units(payload.amount), networkFee: units(payload.network_fee) } : {}),
});

/** A refund that failed frees its money: it reduces the payment's write-off, when there is one. */
async function settleWriteOffs(
  trx: Trx,
  freed: ReadonlyMap<PayoutId, Posting>,
  ports: Pick<Ports, 'logger'>,
): Promise<void> {
  for (const { payout, ...payment } of await returnedPayments(trx, [...freed.keys()])) {
    const recovered = freed.get(payout)?.entries.find(({ bucket }) => bucket === 'loss');
    if (recovered === undefined) await recoverWriteOffs(trx, payment, `freed:${payout}`, ports);
    else await reduceWriteOff(trx, payment, recovered.amount);
  }
}

/** Deposits and parts of them that were on their way back are returned, or wait for a decision again. */
async function endRefunds(
  trx: Trx,
  to: HoldEnd['to'],
  postings: ReadonlyMap<PayoutId, Posting>,
): Promise<void> {
  if (postings.size === 0) return;
  if (to === 'settled') return markRefunded(trx, [...postings.keys()]);
  const kept = ({ detail }: Posting) => detail === ('failed_fee_kept' satisfies ReleaseReason);
  await reopenSuspense(
    trx,
    [...postings].map(([id, posting]) => ({ id, feeKept: kept(posting) })),
  );
}
