import type { Asked } from '@quittance/shared/bus';
import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import type { Ports } from '../ports.ts';
import type { Payout } from '../store/payouts.ts';
import { type KeptRequest, proofView } from '../store/request-proofs.ts';
import { holdRequest } from '../views.ts';

export type HoldAnswer = Asked<ReplyOf<'hold.place'> & { because?: 'used_for_recovery' | undefined }>;

/**
 * Asks the ledger for a hold. When it refuses one because no request of the account asks for it, an operator has to look into
 * it. When another payout of the claim link is not known to the ledger to have ended, the same works a moment later. Both are
 * given up as without an answer: the client hears that nothing was paid.
 */
export async function askHold(
  { bus, logger }: Pick<Ports, 'bus' | 'logger'>,
  request: RequestOf<'hold.place'>,
): Promise<HoldAnswer> {
  const asked = await bus.ask('hold.place', request);
  if (!asked.known) return asked;
  const { because, ...reply } = asked.reply;
  if (because === 'link_in_use') return { known: false, reason: because };
  if (because !== 'not_asked_for') return { known: true, reply: { ...reply, because } };
  const { request_id, payout_id: payout, account_id: account } = request;
  const fields = { request_id, payout, account };
  logger.error(fields, 'the ledger refused a hold: it finds no request of the account that asks for it');
  return { known: false, reason: because };
}

export type BatchPayout = Payout & { batchLine: number };
export type Decision = { payout: BatchPayout; outcome: string; available: string | undefined };

/** Asks for the holds of some payouts of a batch at once. The ledger is shown the request of the batch with each. */
export async function askHolds(
  ports: Pick<Ports, 'bus' | 'logger'>,
  payouts: readonly BatchPayout[],
  { requestId, request }: { requestId: string; request: KeptRequest },
): Promise<Decision[]> {
  const proof = proofView(request);
  return await Promise.all(
    payouts.map(async (payout): Promise<Decision> => {
      const ofLine = { ...proof, item: payout.batchLine };
      const asked = await askHold(ports, holdRequest(payout, requestId, ofLine));
      if (!asked.known) return { payout, outcome: 'unknown', available: undefined };
      return { payout, outcome: asked.reply.outcome, available: asked.reply.available };
    }),
  );
}
