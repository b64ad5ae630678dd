import { sleepBy } from '@quittance/shared/clock';
import { contextOf, readBody, unknownParameters } from '@quittance/shared/http';
import { type Answer, answers, send } from '@quittance/shared/http-answers';
import { merchantOnly } from '@quittance/shared/merchant-only';
import { ok, refuse } from '@quittance/shared/result';
import type { Express, Request, Response } from 'express';
import { readReturnOrder } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { asksForClaim } from '../refund-order.ts';
import { readReturnedPart, tooLittleLeft } from '../returned-part.ts';
import { findUnresolved, type UnresolvedDeposit } from '../store/unswept-deposits.ts';
import { payOnce, payoutCallOf } from './pay-once.ts';
import { claimDeposit } from './refunds.ts';

/** Returns of unresolved funds. The ledger answers what else merchants ask about them. */
export function routeReturns(app: Express, ports: Ports): void {
  const merchant = merchantOnly('payouts', ports.settings.gatewayKeys, ports.clock);
  const waiting = { count: 0 };
  app.post('/api/unresolved/:id/return', merchant, ...readBody, async (req, res) =>
    send(res, await returnDeposit(ports, waiting, req, res)),
  );
}

/** Pauses between reads of a deposit whose event has not arrived yet. After about three seconds it counts as unknown. */
const ARRIVES_AFTER_MS = [50, 100, 200, 400, 800, 1_600] as const;
/** How many requests may wait at once, because requests for unknown deposits must not delay others. */
const WAITING_MAX = 8;

/** How many requests of this replica wait for a deposit's event. */
type WaitingRequests = { count: number };

/** Refunds an unresolved deposit, or a part of it: a payout of that amount less the network fee. */
async function returnDeposit(
  ports: Ports,
  waiting: WaitingRequests,
  req: Request,
  res: Response,
): Promise<Answer> {
  const depositId = String(req.params['id']);
  const { identity, rawBody, body } = contextOf(res);
  // Any other text names no deposit, and Postgres refuses some texts.
  const isId = /^\w{1,64}$/.test(depositId);
  const deposit = isId ? await arrivedUnresolved(ports, waiting, depositId) : undefined;
  if (deposit === undefined) return answers.noModel('Deposit');
  if (deposit.account !== identity.account) return answers.unauthorized;
  const refused = unknownParameters(req);
  if (refused !== undefined) return refused;
  // The body does not name the deposit, so the same key for another deposit is another request.
  const asked = Buffer.concat([Buffer.from(`return ${depositId}\n`), rawBody]);
  if (asksForClaim(body)) return claimDeposit(ports, req, res, { id: depositId, asked, deposit });
  // After the key: a repeated request gets its first answer, also when the deposit was reversed since.
  return payOnce(ports, payoutCallOf(req, res, asked, depositId), () => {
    if (deposit.isReversed) return answers.alreadyResolved('reversed');
    const part = readReturnedPart(body, deposit, deposit.left);
    const { asset, amount } = deposit;
    const order = readReturnOrder(body, { asset, amount: part.ok ? part.value.takes : amount }, ports);
    if (!part.ok) return refuse({ ...(order.ok ? {} : order.refusal), ...part.refusal });
    if (!order.ok) return order;
    const isPart = part.value.takes < amount;
    return tooLittleLeft(deposit, deposit.left, part.value) ?? ok({ ...order.value, isPart });
  });
}

/** Merchants can see a deposit as soon as the ledger has booked it. Its event may arrive here a moment later. */
async function arrivedUnresolved(
  { db, clock }: Ports,
  waiting: WaitingRequests,
  depositId: string,
): Promise<UnresolvedDeposit | undefined> {
  const known = await findUnresolved(db, depositId);
  if (known !== undefined || waiting.count >= WAITING_MAX) return known;
  waiting.count += 1;
  try {
    for (const ms of ARRIVES_AFTER_MS) {
      await sleepBy(clock, ms);
      const found = await findUnresolved(db, depositId);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    waiting.count -= 1;
  }
}
