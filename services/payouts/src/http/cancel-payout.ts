import { contextOf, unknownInput } from '@quittance/shared/http';
import { type Answer, accessAnswers, answers } from '@quittance/shared/http-answers';
import type { Request, Response } from 'express';
import { requestCancellation, type WaitingCancellations } from '../operations/request-cancellation.ts';
import type { Ports } from '../ports.ts';
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
    case 'cancelled':
      return { status: 200, body: { message: 'Payout cancelled successfully.', data: payoutView(payout) } };
    case 'requested': {
      const message = 'The cancellation was requested. The payout is cancelled unless it is signed first.';
      return { status: 202, body: { message, data: payoutView(payout) } };
    }
    case 'too_late':
      return answers.notCancelable('The payout is signed or has ended, so it cannot be cancelled.');
  }
}
