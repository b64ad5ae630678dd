import { form } from '@quittance/shared/form';
import {
  contextOf,
  readBody,
  takesNoParameters,
  unknownInput,
  unknownParameters,
} from '@quittance/shared/http';
import {
  type AccessRefusal,
  type Answer,
  accessAnswers,
  answers,
  send,
} from '@quittance/shared/http-answers';
import { isIdempotencyKey, readKey } from '@quittance/shared/idempotency';
import { merchantOnly } from '@quittance/shared/merchant-only';
import { pageForm, pageOf, pageView, placeOf } from '@quittance/shared/pages';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { rules } from '@quittance/shared/validation';
import type { Express, Request, Response } from 'express';
import { type CountedLink, isPaymentLinkId, MAX_OPEN_MAX } from '../domain/payment-link.ts';
import { linkView } from '../link-view.ts';
import { createPaymentLink } from '../operations/create-payment-link.ts';
import type { Ports } from '../ports.ts';
import { deactivateLink, findLink, listLinks, saveMaxOpen } from '../store/payment-links.ts';

/** What merchants ask about payment links. */
export function routePaymentLinks(app: Express, ports: Ports): void {
  const merchant = merchantOnly('invoices', ports.settings.gatewayKeys, ports.clock);
  app.get('/api/payment-links', merchant, async (req, res) => send(res, await list(ports, req, res)));
  app.get('/api/payment-links/:id', merchant, async (req, res) => send(res, await show(ports, req, res)));
  app.post('/api/payment-links', merchant, takesNoParameters, ...readBody, async (req, res) =>
    send(res, await create(ports, req, res)),
  );
  app.patch('/api/payment-links/:id', merchant, takesNoParameters, ...readBody, async (req, res) =>
    send(res, await change(ports, req, res)),
  );
  app.post('/api/payment-links/:id/deactivate', merchant, ...readBody, async (req, res) =>
    send(res, await deactivate(ports, req, res)),
  );
}

async function list(ports: Ports, { query }: Request, res: Response): Promise<Answer> {
  const parsed = pageForm(query);
  if (!parsed.ok) return answers.invalid(parsed.refusal);
  const { perPage } = parsed.value;
  const page = pageOf(query);
  const { account } = contextOf(res).identity;
  const { items, total } = await listLinks(ports.db, account, placeOf(page, perPage));
  const data = items.map((link) => shown(ports, link));
  const path = `${ports.settings.publicUrl}/api/payment-links`;
  return { status: 200, body: pageView({ data, total, page, perPage, path, query }) };
}

const shown = ({ settings, clock }: Ports, link: CountedLink) => linkView(link, settings, clock.now());

/** A link of the caller. */
async function findOwn(
  ports: Ports,
  req: Request,
  res: Response,
): Promise<Result<CountedLink, AccessRefusal>> {
  const id = String(req.params['id']);
  const found = isPaymentLinkId(id) ? await findLink(ports.db, id) : undefined;
  if (found === undefined) return refuse('not_found');
  return found.account === contextOf(res).identity.account ? ok(found) : refuse('forbidden');
}

async function show(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await findOwn(ports, req, res);
  if (!found.ok) return accessAnswers('PaymentLink')[found.refusal];
  return unknownParameters(req) ?? { status: 200, body: shown(ports, found.value) };
}

/** One key names one request of an account: the same key with the body of an invoice is another request. */
const KEY_SCOPE = Buffer.from('POST /api/payment-links\n');

async function create(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const { identity, rawBody, body } = contextOf(res);
  const header = req.headers['idempotency-key'];
  const key = readKey(header, identity.account, Buffer.concat([KEY_SCOPE, rawBody]));
  if (key !== undefined && !isIdempotencyKey(key)) return answers.invalid(key);
  const created = await createPaymentLink(ports, { account: identity.account, body, key });
  if (!created.ok) return answers.invalid(created.refusal);
  const { replayed, ...answer } = created.value;
  return { ...answer, headers: replayed ? { 'Idempotent-Replayed': 'true' } : {} };
}

export const changeForm = form({ max_open: rules.integer(1, MAX_OPEN_MAX).required });

async function change(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await findOwn(ports, req, res);
  if (!found.ok) return accessAnswers('PaymentLink')[found.refusal];
  const wanted = changeForm(contextOf(res).body);
  if (!wanted.ok) return answers.invalid(wanted.refusal);
  const changed = await saveMaxOpen(ports.db, found.value.id, wanted.value.max_open);
  const data = shown(ports, changed);
  return { status: 200, body: { message: 'Payment link updated successfully.', data } };
}

async function deactivate(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await findOwn(ports, req, res);
  if (!found.ok) return accessAnswers('PaymentLink')[found.refusal];
  const refused = unknownInput(req, res);
  if (refused !== undefined) return refused;
  const ended = await deactivateLink(ports.db, found.value.id, ports.clock.now());
  return { status: 200, body: { data: shown(ports, ended) } };
}
