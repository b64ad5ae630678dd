import { contextOf, Unavailable, unknownInput } from '@quittance/shared/http';
import { type Answer, accessAnswers, answers } from '@quittance/shared/http-answers';
import { actorOf } from '@quittance/shared/identity';
import type { Request, Response } from 'express';
import type { ApprovalDecision, ApprovalRefusal } from '../domain/approval.ts';
import { decideApproval } from '../operations/approve-payout.ts';
import type { Ports } from '../ports.ts';
import { payoutView } from '../views.ts';
import { findOwnPayout } from './own-payout.ts';

const refusals = {
  no_approval: answers.conflict('The payout has not waited for an approval: there is nothing to decide.'),
  own_payout: answers.conflict(
    'You have requested the payout: another API token or another person approves it, or you cancel it.',
  ),
  ended: answers.conflict(
    'It is decided: the payout was approved, rejected, cancelled, or its time is over. Read it.',
  ),
} as const satisfies Record<ApprovalRefusal, Answer>;

/** `POST /api/payouts/{id}/approve` and `/reject`. */
export async function approveOrReject(
  ports: Ports,
  decision: ApprovalDecision,
  req: Request,
  res: Response,
): Promise<Answer> {
  const { account, ...who } = contextOf(res).identity;
  const actor = actorOf(who);
  const found = await findOwnPayout(ports, account, String(req.params['id']));
  if (!found.ok) return accessAnswers('Payout')[found.refusal];
  const refused = unknownInput(req, res);
  if (refused !== undefined) return refused;
  if (actor === undefined) throw new Unavailable('a gateway of a former release does not say who acts');
  const given = await decideApproval(ports, found.value.id, decision, actor);
  if (!given.ok) return refusals[given.refusal];
  return {
    status: 200,
    body: { message: `Payout ${decision} successfully.`, data: payoutView(given.value) },
  };
}
