import { isDatabaseDown } from '@quittance/shared/db';
import {
  type Answer,
  answers,
  authenticated,
  contextOf,
  createApp,
  finishApp,
  readBody,
  send,
} from '@quittance/shared/http';
import { isIdempotencyKey, readKey } from '@quittance/shared/idempotency';
import { reason } from '@quittance/shared/logger';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import type { Express, Request, Response } from 'express';
import { z } from 'zod';
import { createInvoice } from './operations/create-invoice.ts';
import { findPayment } from './operations/find-payment.ts';
import { type GetRefusal, getInvoice } from './operations/get-invoice.ts';
import { listInvoices } from './operations/list-invoices.ts';
import { type HtmlPage, pageHeaders, paymentPage, unavailablePage, unknownPage } from './payment-page.ts';
import type { Ports } from './ports.ts';

export type HttpPorts = Omit<Ports, 'bus'>;

/** `without` names what is out of service while the rest is ready. */
export type InvoicesHttpParts = ServiceHttpParts & { without: () => Promise<string[]> };

/** The service's HTTP interface, behind the gateway. */
export function createHttp(ports: HttpPorts, parts: InvoicesHttpParts): Express {
  const app = createApp(parts);
  const merchant = authenticated(ports.settings.identitySecret, parts.clock);
  app.get('/api/invoices', merchant, async (req, res) => send(res, await list(ports, req, res)));
  app.get('/api/invoices/:id', merchant, async (req, res) => send(res, await show(ports, req, res)));
  app.post('/api/invoices', merchant, ...readBody, async (req, res) => {
    const answer = await create(ports, req, res);
    if (answer.status === 201) ports.wakeRelay();
    send(res, answer);
  });
  app.get('/pay/:id', async (req, res) => sendPage(res, await pay(ports, idOf(req))));
  finishApp(app, parts.logger);
  return app;
}

const idOf = (req: Request): string => String(req.params['id']);

async function list(ports: HttpPorts, req: Request, res: Response): Promise<Answer> {
  const page = await listInvoices(ports, contextOf(res).identity.account, req.query);
  return page.ok ? { status: 200, body: page.value } : answers.invalid(page.refusal);
}

const notShown = {
  unknown: answers.noModel('Invoice'),
  foreign: answers.unauthorized,
} satisfies Record<GetRefusal, Answer>;

async function show(ports: HttpPorts, req: Request, res: Response): Promise<Answer> {
  const invoice = await getInvoice(ports, contextOf(res).identity.account, idOf(req));
  return invoice.ok ? { status: 200, body: invoice.value } : notShown[invoice.refusal];
}

async function create(ports: HttpPorts, req: Request, res: Response): Promise<Answer> {
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

/** A customer gets a page, whatever happens; one that can still change asks again by itself. */
async function pay(ports: HttpPorts, id: string): Promise<HtmlPage> {
  try {
    const payment = await findPayment(ports, id);
    return payment === undefined ? unknownPage : paymentPage(payment, ports, ports.clock.now());
  } catch (error) {
    if (!isDatabaseDown(error)) throw error;
    ports.logger.warn({ reason: reason(error) }, 'a payment page cannot be shown: the database is away');
    return unavailablePage;
  }
}

function sendPage(res: Response, { status, html }: HtmlPage): void {
  for (const [name, value] of Object.entries(pageHeaders)) res.setHeader(name, value);
  res.setHeader('Content-Length', Buffer.byteLength(html));
  res.statusCode = status;
  res.end(res.req.method === 'HEAD' ? undefined : html);
}
