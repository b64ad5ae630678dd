import { type AssetSymbol, assetSymbols } from '@quittance/shared/assets';
import { contextOf, readBody, takesNoParameters, unknownParameters } from '@quittance/shared/http';
import { type Answer, answers, send } from '@quittance/shared/http-answers';
import { didYouMean } from '@quittance/shared/nearest';
import type { Express, Request, RequestHandler, Response } from 'express';
import { automaticPayoutView, readAutomaticPayout } from '../automatic-order.ts';
import { nextRun } from '../domain/automatic.ts';
import type { Ports } from '../ports.ts';
import { automaticPayoutsOf, deleteAutomaticPayout, putAutomaticPayout } from '../store/automatic-payouts.ts';
import { keepRequest } from '../store/request-proofs.ts';
import { requestOf } from './pay-once.ts';

/** A merchant's rules for automatic payouts, one for each asset. */
export function addAutomaticRoutes(app: Express, ports: Ports, merchant: RequestHandler): void {
  app.get('/api/automatic-payouts', merchant, takesNoParameters, async (_req, res) => {
    const found = await automaticPayoutsOf(ports.db, contextOf(res).identity.account);
    send(res, { status: 200, body: { data: found.map(automaticPayoutView) } });
  });
  app.put('/api/automatic-payouts/:asset', merchant, ...readBody, async (req, res) =>
    send(res, await putRule(ports, req, res)),
  );
  app.delete('/api/automatic-payouts/:asset', merchant, async (req, res) =>
    send(res, await deleteRule(ports, req, res)),
  );
}

const assetOf = (req: Request): AssetSymbol | undefined =>
  assetSymbols.find((symbol) => symbol === req.params['asset']);

/** The body of a 404 with the nearest asset. */
function unknownAsset(given: string): Answer {
  const answer = answers.noModel('Asset');
  const hint = didYouMean(given, assetSymbols) ?? `Assets: ${assetSymbols.join(', ')}.`;
  return { ...answer, body: { ...answer.body, hint } };
}

async function putRule(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const { identity, body } = contextOf(res);
  const asset = assetOf(req);
  if (asset === undefined) return unknownAsset(String(req.params['asset']));
  const refused = unknownParameters(req);
  if (refused !== undefined) return refused;
  const given = readAutomaticPayout(body, asset, ports);
  if (!given.ok) return answers.invalid(given.refusal);
  const now = ports.clock.now();
  // A balance that is high enough is paid at once.
  const nextRunAt = given.value.schedule === 'threshold' ? now : nextRun('daily', now);
  const request = requestOf(req, res);
  const rule = { ...given.value, account: identity.account, asset, nextRunAt, assertionId: request.id };
  const stored = await ports.db.transaction(async (trx) => {
    await keepRequest(trx, request);
    return await putAutomaticPayout(trx, rule);
  });
  const data = automaticPayoutView(stored);
  return { status: 200, body: { message: 'Automatic payout saved successfully.', data } };
}

async function deleteRule(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const { account } = contextOf(res).identity;
  const asset = assetOf(req);
  const rules = await automaticPayoutsOf(ports.db, account);
  if (asset === undefined || !rules.some((rule) => rule.asset === asset))
    return answers.noModel('AutomaticPayout');
  const refused = unknownParameters(req);
  if (refused !== undefined) return refused;
  const isDeleted = await deleteAutomaticPayout(ports.db, account, asset);
  if (!isDeleted) return answers.noModel('AutomaticPayout');
  return { status: 200, body: { message: 'Automatic payout deleted successfully.' } };
}
