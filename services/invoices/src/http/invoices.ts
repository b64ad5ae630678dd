import { assetSymbols } from '@quittance/shared/assets';
import { isDatabaseDown } from '@quittance/shared/db';
import { form } from '@quittance/shared/form';
import { type HtmlPage, sendPage } from '@quittance/shared/html';
import { contextOf, merchantOnly, readBody } from '@quittance/shared/http';
import { type Answer, answers, send } from '@quittance/shared/http-answers';
import { isIdempotencyKey, readKey } from '@quittance/shared/idempotency';
import type { InvoiceId } from '@quittance/shared/ids';
import { reason } from '@quittance/shared/logger';
import { paged, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import { rules } from '@quittance/shared/validation';
import type { Express, Request, Response } from 'express';
import { z } from 'zod';
import { statuses } from '../domain/invoice.ts';
import { createInvoice } from '../operations/create-invoice.ts';
import { paymentPage, unavailablePage, unknownPage } from '../payment-page.ts';
import type { Ports } from '../ports.ts';
import { listInvoices } from '../store/invoice-reads.ts';
import { invoiceView, listItemView } from '../views.ts';

/** What merchants ask, behind the gateway, and the hosted payment page, for whoever has its address. */
export function routeInvoices(app: Express, ports: Ports): void {
  const merchant = merchantOnly(ports.settings.identitySecret, ports.clock);
  app.get('/api/invoices', merchant, async (req, res) => send(res, await list(ports, req, res)));
  app.get('/api/invoices/:id', merchant, async (req, res) =>
    send(res, await show(ports, String(req.params['id']), res)),
  );
  app.post('/api/invoices', merchant, ...readBody, async (req, res) => {
    const answer = await create(ports, req, res);
    if (answer.status === 201) ports.wakeRelay();
    send(res, answer);
  });
  app.get('/pay/:id', async (req, res) => sendPage(res, await pay(ports, String(req.params['id']))));
}

const listForm = form(
  {
    perPage: perPageField,
    status: rules.oneOf(statuses).optional,
    asset: rules.oneOf(assetSymbols).optional,
    external_id: rules.text(255).optional,
    created_from: rules.date().optional,
    created_to: rules.date().optional,
  },
  paged,
);

async function list(ports: Ports, { query }: Request, res: Response): Promise<Answer> {
  const parsed = listForm(query);
  if (!parsed.ok) return answers.invalid(parsed.refusal);
  const { perPage, ...filter } = parsed.value;
  const page = pageOf(query);
  const { account } = contextOf(res).identity;
  const { items, total } = await listInvoices(ports.db, account, filter, placeOf(page, perPage));
  const data = items.map((invoice) => listItemView(invoice, ports));
  const path = `${ports.settings.publicUrl}/api/invoices`;
  return { status: 200, body: pageView({ data, total, page, perPage, path, query }) };
}

async function show(ports: Ports, id: string, res: Response): Promise<Answer> {
  const found = isInvoiceId(id) ? await ports.findInvoice(id) : undefined;
  if (found === undefined) return answers.noModel('Invoice');
  if (found.invoice.account !== contextOf(res).identity.account) return answers.unauthorized;
  return { status: 200, body: invoiceView(found, ports) };
}

async function create(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const { identity, rawBody, body, requestId } = contextOf(res);
  const key = readKey(req.headers['idempotency-key'], identity.account, rawBody);
  if (key !== undefined && !isIdempotencyKey(key)) return answers.invalid(key);
  const created = await createInvoice(ports, { account: identity.account, body, key, requestId });
  if (!created.ok) return answers.invalid(created.refusal);
  const { status, body: said, replayed } = created.value;
  const headers = { ...locationOf(said), ...(replayed ? { 'Idempotent-Replayed': 'true' } : {}) };
  return { status, body: said, headers };
}

const createdBody = z.object({ data: z.object({ url: z.string() }) });

/** The payment page, also for the gateway, which counts the pages of invoices that it knows apart from guesses. */
function locationOf(body: object): { Location?: string } {
  const created = createdBody.safeParse(body);
  return created.success ? { Location: created.data.data.url } : {};
}

/** A customer always gets a page. A page that can still change reloads itself. */
async function pay(ports: Ports, id: string): Promise<HtmlPage> {
  try {
    const payment = isInvoiceId(id) ? await ports.findInvoice(id) : undefined;
    return payment === undefined ? unknownPage : paymentPage(payment, ports, ports.clock.now());
  } catch (error) {
    if (!isDatabaseDown(error)) throw error;
    ports.logger.warn(
      { reason: reason(error) },
      'a payment page cannot be shown: the database is unavailable',
    );
    return unavailablePage;
  }
}

/** Any other text names no invoice: the database need not be asked. */
const isInvoiceId = (text: string): text is InvoiceId => /^inv_[0-9a-z]{36}$/.test(text);
