import { assetSymbols } from '@quittance/shared/assets';
import { form } from '@quittance/shared/form';
import {
  contextOf,
  createApp,
  finishApp,
  merchantOnly,
  readBody,
  takesNoParameters,
  unknownInput,
} from '@quittance/shared/http';
import { type Answer, accessAnswers, answers, send } from '@quittance/shared/http-answers';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { paged, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import { rules } from '@quittance/shared/validation';
import type { Express, Request } from 'express';
import { suspenseStates } from '../domain/suspense.ts';
import { type AcceptRefusal, acceptDeposit } from '../operations/accept-unresolved.ts';
import type { Ports } from '../ports.ts';
import { activeAssets, balancesOf } from '../store/quotes.ts';
import { findSuspense, suspensePage } from '../store/suspense.ts';
import { acceptedView, assetView, balanceView, byAssetId, unresolvedView } from '../views.ts';
import { addBooks } from './books.ts';

const listForm = form(
  {
    perPage: perPageField,
    status: rules.oneOf(suspenseStates).optional,
    asset: rules.oneOf(assetSymbols).optional,
  },
  paged,
);

export type HttpPorts = Pick<Ports, 'db' | 'settings'>;

export function createHttp(ports: HttpPorts, parts: ServiceHttpParts): Express {
  const { db, settings } = ports;
  const app = createApp(parts);
  const merchant = merchantOnly(settings.identitySecret, parts.clock);

  app.get('/api/balances', merchant, takesNoParameters, async (_req, res) => {
    const rows = await balancesOf(db, contextOf(res).identity.account);
    send(res, { status: 200, body: { data: rows.sort(byAssetId).map(balanceView) } });
  });

  app.get('/api/assets', merchant, takesNoParameters, async (_req, res) => {
    const rows = await activeAssets(db);
    send(res, { status: 200, body: { data: rows.sort(byAssetId).map(assetView) } });
  });

  app.get('/api/unresolved', merchant, async (req, res) =>
    send(res, await listUnresolved(ports, contextOf(res).identity.account, req)),
  );

  app.post('/api/unresolved/:id/accept', merchant, ...readBody, async (req, res) => {
    const id = String(req.params['id']);
    const { account } = contextOf(res).identity;
    const item = isDepositId(id) ? await findSuspense(db, id) : undefined;
    if (item === undefined) return send(res, refusals.not_found);
    if (item.account !== account) return send(res, refusals.forbidden);
    const refused = unknownInput(req, res);
    if (refused !== undefined) return send(res, refused);
    const accepted = await acceptDeposit({ db }, account, id as DepositId);
    send(res, accepted.ok ? { status: 200, body: acceptedView(accepted.value) } : refusals[accepted.refusal]);
  });

  addBooks(app, merchant, { db, clock: parts.clock, logger: parts.logger });

  finishApp(app, parts.logger);
  return app;
}

async function listUnresolved(
  { db, settings }: HttpPorts,
  account: AccountId,
  req: Request,
): Promise<Answer> {
  const filter = listForm(req.query);
  if (!filter.ok) return answers.invalid(filter.refusal);
  const { perPage, status, asset } = filter.value;
  const page = pageOf(req.query);
  const { items, total } = await suspensePage(db, { account, state: status, asset }, placeOf(page, perPage));
  const path = `${settings.publicUrl}/api/unresolved`;
  const data = items.map(unresolvedView);
  return { status: 200, body: pageView({ data, total, page, perPage, path, query: req.query }) };
}

const isDepositId = (text: string): text is DepositId => /^dep_[0-9a-z]{36}$/.test(text);

const refusals = {
  ...accessAnswers('Deposit'),
  accepted: answers.alreadyResolved('accepted'),
  returned: answers.alreadyResolved('returned'),
  reversed: answers.alreadyResolved('reversed'),
} as const satisfies Record<AcceptRefusal, Answer>;
