import type { AssetSymbol } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import { endHold, type HoldEnd } from '../domain/hold.ts';
import type { Posting, ReleaseReason } from '../domain/posting.ts';
import type { Ports } from '../ports.ts';
import { lockHolds, markHoldsEnded } from '../store/holds.ts';
import { markRefunded, reopenSuspense } from '../store/suspense.ts';
import { book } from '../store/transfers.ts';
import { reduceWriteOff, returnedPayments } from '../store/write-offs.ts';
import { recoverWriteOffs } from './recover-write-offs.ts';

/** What a payout's service says of a hold; amounts are not said of one that is given up. */
export type Ending = {
  payout: { id: PayoutId; account: AccountId; asset: AssetSymbol; amount?: Units; networkFee?: Units };
  end: HoldEnd;
};

/** A hold that cannot end this way: a defect of the sender, for an operator to look at. */
class HoldCannotEnd extends Error {
  constructor(payout: PayoutId, to: string, why: string) {
    super(`the hold of payout ${payout} cannot be ${to}: ${why}`);
    this.name = 'HoldCannotEnd';
  }
}

/** Ends holds, all of them the same way. Again is nothing; another way than before is refused. */
export async function endHolds(
  trx: Trx,
  endings: readonly Ending[],
  ports: Pick<Ports, 'logger'>,
): Promise<void> {
  const [first] = endings;
  if (first === undefined) return;
  const holds = await lockHolds(
    trx,
    endings.map(({ payout }) => payout.id),
  );
  const postings = new Map<PayoutId, Posting>();
  for (const { payout, end } of endings) {
    const decision = endHold(holds.get(payout.id), end, payout);
    if (!decision.ok) throw new HoldCannotEnd(payout.id, end.to, decision.refusal);
    if (decision.value) postings.set(payout.id, decision.value);
  }
  if (postings.size === 0) return;
  const booked = await book(trx, [...postings.values()]);
  failpoint(`ledger.hold_${first.end.to}`);
  await markHoldsEnded(trx, [...postings.keys()], first.end.to);
  const returns = [...postings].filter(([id]) => typeof holds.get(id)?.deposit === 'string');
  await endReturns(trx, first.end.to, new Map(returns));
  const freed = returns.filter(([, { op, kind }]) => kind === 'release' && booked.has(op));
  if (freed.length > 0) await settleWriteOffs(trx, new Map(freed), ports);
}

/** A refund that failed frees its money: it reduces the payment's write-off, when there is one. */
async function settleWriteOffs(
  trx: Trx,
  freed: ReadonlyMap<PayoutId, Posting>,
  ports: Pick<Ports, 'logger'>,
): Promise<void> {
  for (const [id, payment] of await returnedPayments(trx, [...freed.keys()])) {
    const recovered = freed.get(id)?.entries.find(({ bucket }) => bucket === 'loss');
    if (recovered === undefined) await recoverWriteOffs(trx, [payment], `freed:${id}`, ports);
    else await reduceWriteOff(trx, payment, recovered.amount);
  }
}

/** Deposits that were on their way back are returned, or wait for a decision again. */
async function endReturns(
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
