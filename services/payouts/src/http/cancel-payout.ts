import { contextOf, unknownInput } from '@quittance/shared/http';
import { type Answer, accessAnswers, answers } from '@quittance/shared/http-answers';
import type { Request, Response } from 'express';
import { CANCELLED } from '../domain/states.ts';
import { requestCancellation, type WaitingCancellations } from '../operations/request-cancellation.ts';
import type { Ports } from '../ports.ts';
import { automaticPayoutsOf } from '../store/automatic-payouts.ts';
import type { Payout } from '../store/payouts.ts';
import { payoutView } from '../views.ts';
import { findOwnPayout } from './own-payout.ts';

/** `POST /api/payouts/{id}/cancel`: 200 when it is cancelled, 202 while the chain worker has not decided. */
export async function cancelPayout(
  ports: Ports,
  waiting: WaitingCancellations,
  req: Request,
  res: Response,
): Promise<Answer> {
  const { identity } = contextOf(res);
  const found = await findOwnPayout(ports, identity.account, String(req.params['id']));
  if (!found.ok) return accessAnswers('Payout')[found.refusal];
  const refused = unknownInput(req, res);
  if (refused !== undefined) return refused;
  const { outcome, payout } = await requestCancellation(ports, waiting, found.value);
  switch (outcome) {
    case 'cancelled': {
      const message = 'Payout cancelled successfully.';
      const hint = await hintOfRule(ports, payout);
      return { status: 200, body: { message, ...(hint && { hint }), data: payoutView(payout) } };
    }
    case 'requested': {
      const message = 'The cancellation was requested. The payout is cancelled unless it is signed first.';
      return { status: 202, body: { message, data: payoutView(payout) } };
    }
    case 'too_late':
      return answers.notCancelable('The payout is signed or has ended, so it cannot be cancelled.');
  }
}

/** How the rule of a cancelled payout is enabled again, if the cancellation has disabled it. */
async function hintOfRule({ db }: Pick<Ports, 'db'>, payout: Payout): Promise<string | undefined> {
  if (!payout.isAutomatic) return undefined;
  const rules = await automaticPayoutsOf(db, payout.account);
  const rule = rules.find(({ asset }) => asset === payout.asset);
  if (rule?.lastError !== CANCELLED) return undefined;
  return `This has disabled the automatic payouts of ${rule.asset}. PUT /api/automatic-payouts/${rule.asset} enables them again.`;
}
