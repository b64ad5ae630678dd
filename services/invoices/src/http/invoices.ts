import { contextOf, merchantOnly, readBody } from '@quittance/shared/http';
import { type Answer, answers, send } from '@quittance/shared/http-answers';
import { isIdempotencyKey, readKey } from '@quittance/shared/idempotency';
import type { InvoiceId } from '@quittance/shared/ids';
import type { Express, Request, Response } from 'express';
import { z } from 'zod';
import { createInvoice } from '../operations/create-invoice.ts';
import { listInvoices } from '../operations/list-invoices.ts';
import type { Ports } from '../ports.ts';
import { invoiceView } from '../views.ts';

/** What merchants ask, behind the gateway. */
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
}

async function list(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const page = await listInvoices(ports, contextOf(res).identity.account, req.query);
  return page.ok ? { status: 200, body: page.value } : answers.invalid(page.refusal);
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

/** Any other text names no invoice: the database need not be asked. */
export const isInvoiceId = (text: string): text is InvoiceId => /^inv_[0-9a-z]{36}$/.test(text);
