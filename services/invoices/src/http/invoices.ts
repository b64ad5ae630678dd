import { assetSymbols } from '@quittance/shared/assets';
import { type CsvExports, csvExports, partErrors, wantsCsv } from '@quittance/shared/csv-export';
import { currencyCodes } from '@quittance/shared/currencies';
import { type Form, form } from '@quittance/shared/form';
import {
  contextOf,
  readBody,
  takesNoParameters,
  unknownInput,
  unknownParameters,
  withList,
} from '@quittance/shared/http';
import {
  type AccessRefusal,
  type Answer,
  accessAnswers,
  answers,
  send,
} from '@quittance/shared/http-answers';
import { isIdempotencyKey, readKey } from '@quittance/shared/idempotency';
import type { AccountId } from '@quittance/shared/ids';
import { merchantOnly } from '@quittance/shared/merchant-only';
import { type Cents, parseCents } from '@quittance/shared/money';
import { paged, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import { type Field, issueOf, messages, rules } from '@quittance/shared/validation';
import type { Express, Request, Response } from 'express';
import { z } from 'zod';
import { invoicesTable } from '../csv-file.ts';
import type { CancelRefusal } from '../domain/cancellation.ts';
import { type Invoice, isInvoiceId, statuses } from '../domain/invoice.ts';
import type { UnchosenInvoice } from '../domain/unchosen-invoice.ts';
import { cancelInvoice } from '../operations/cancel-invoice.ts';
import { createInvoice } from '../operations/create-invoice.ts';
import { findInvoice } from '../operations/find-invoice.ts';
import type { Ports } from '../ports.ts';
import {
  allInvoices,
  type FoundInvoice,
  findInvoices,
  type ListFilter,
  listInvoices,
} from '../store/invoice-reads.ts';
import { foundView, unchosenListItemView, unchosenView } from '../unchosen-views.ts';
import { invoiceView, listItemView } from '../views.ts';

/** What merchants ask about invoices, behind the gateway. */
export function routeInvoices(app: Express, ports: Ports): void {
  const merchant = merchantOnly('invoices', ports.settings.gatewayKeys, ports.clock);
  const exports = csvExports(ports);
  app.get('/api/invoices', merchant, (req, res) => list(ports, exports, req, res));
  app.get('/api/invoices/:id', merchant, async (req, res) => send(res, await show(ports, req, res)));
  app.post('/api/invoices', merchant, takesNoParameters, ...readBody, async (req, res) => {
    const answer = await create(ports, req, res);
    if (answer.status === 201) ports.wakeRelay();
    send(res, answer);
  });
  app.post('/api/invoices/:id/cancel', merchant, ...readBody, async (req, res) => {
    const answer = await cancel(ports, req, res);
    if (answer.status === 200) ports.wakeRelay();
    send(res, answer);
  });
}

/** More than any address or hash has. */
const SEARCHED_CHARACTERS_MAX = 255;

/** An amount of any currency, of any size. */
const searchedAmount: Field<Cents | null> = (attribute) =>
  rules
    .number()
    .optional(attribute)
    .transform((text, context) => {
      if (text === null) return null;
      const amount = parseCents(text);
      if (amount.ok) return amount.value;
      const hint = 'Give an amount with at most two decimals, such as 25.00.';
      context.addIssue(issueOf(messages.invalid(attribute, hint)));
      return z.NEVER;
    });

const listFields = {
  perPage: perPageField,
  status: rules.oneOf(statuses).optional,
  asset: rules.oneOf(assetSymbols).optional,
  external_id: rules.text(255).optional,
  external_id_prefix: rules.text(255).optional,
  address: rules.text(SEARCHED_CHARACTERS_MAX).optional,
  tx_hash: rules.text(SEARCHED_CHARACTERS_MAX).optional,
  amount_fiat: searchedAmount,
  currency: rules.oneOf(currencyCodes).optional,
  payment_link_id: rules.text(SEARCHED_CHARACTERS_MAX).optional,
  created_from: rules.date().optional,
  created_to: rules.date().optional,
  paid_from: rules.date().optional,
  paid_to: rules.date().optional,
  expand: rules.listOf(['payments']).optional,
  format: rules.oneOf(['json', 'csv']).optional,
};

/** The filters of the list of invoices. */
export const invoiceFilters: Form<typeof listFields> = form(listFields, paged);

/** A page of invoices as JSON, or all of them as CSV. */
async function list(ports: Ports, exports: CsvExports, req: Request, res: Response): Promise<void> {
  const { query } = req;
  const parsed = invoiceFilters(withList(query, 'expand'));
  if (!parsed.ok) return send(res, answers.invalid(parsed.refusal));
  const { perPage, expand, format, ...filter } = parsed.value;
  const { account } = contextOf(res).identity;
  if (!wantsCsv(req, format)) {
    const place = { page: pageOf(query), perPage };
    return send(res, await listPage(ports, account, filter, { ...place, inFull: expand !== null, query }));
  }
  const errors = partErrors(query, ['page', 'perPage', 'expand']);
  if (Object.keys(errors).length > 0) return send(res, answers.invalid(errors));
  const select = () => allInvoices(account, filter);
  await exports.send(res, { account, name: 'invoices', table: invoicesTable, select });
}

type WantedPage = { page: number; perPage: number; inFull: boolean; query: Request['query'] };

async function listPage(
  ports: Ports,
  account: AccountId,
  filter: ListFilter,
  { page, perPage, inFull, query }: WantedPage,
): Promise<Answer> {
  const { items, total } = await listInvoices(ports.db, account, filter, placeOf(page, perPage));
  const data: object[] = inFull
    ? await allInFull(ports, items)
    : items.map((item) => (isUnchosen(item) ? unchosenListItemView(item) : listItemView(item, ports)));
  const path = `${ports.settings.publicUrl}/api/invoices`;
  return { status: 200, body: pageView({ data, total, page, perPage, path, query }) };
}

const isUnchosen = (item: Invoice | UnchosenInvoice): item is UnchosenInvoice => !('asset' in item);

/** Items as GET of one invoice shows them. */
async function allInFull(ports: Ports, items: readonly (Invoice | UnchosenInvoice)[]) {
  const chosen = items.filter((item) => !isUnchosen(item));
  const ids = chosen.map(({ id }) => id);
  const found = new Map((await findInvoices(ports.db, ids)).map((full) => [full?.invoice.id, full]));
  return items.map((item) => {
    if (isUnchosen(item)) return unchosenView(item, ports);
    const full = found.get(item.id);
    invariant(full !== undefined, 'an invoice is never deleted');
    return invoiceView(full, ports);
  });
}

async function show(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await findOwn(ports, req, res);
  if (!found.ok) return accessAnswers('Invoice')[found.refusal];
  return unknownParameters(req) ?? { status: 200, body: foundView(found.value, ports) };
}

/** An invoice of the caller. */
async function findOwn(
  ports: Ports,
  req: Request,
  res: Response,
): Promise<Result<FoundInvoice, AccessRefusal>> {
  const id = String(req.params['id']);
  const found = isInvoiceId(id) ? await findInvoice(ports, id) : undefined;
  if (found === undefined) return refuse('not_found');
  return termsOf(found).account === contextOf(res).identity.account ? ok(found) : refuse('forbidden');
}

/** What an invoice has before and after the choice of its asset. */
const termsOf = (found: FoundInvoice) => ('invoice' in found ? found.invoice : found);

const cancelRefusals = {
  payment_seen: answers.notCancelable('A payment of the invoice was seen, so it cannot be cancelled.'),
  paid: answers.notCancelable('The invoice is paid, so it cannot be cancelled.'),
  expired: answers.notCancelable('The invoice has expired, so it cannot be cancelled.'),
} as const satisfies Record<CancelRefusal, Answer>;

async function cancel(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await findOwn(ports, req, res);
  if (!found.ok) return accessAnswers('Invoice')[found.refusal];
  const refused = unknownInput(req, res);
  if (refused !== undefined) return refused;
  const cancelled = await cancelInvoice(ports, termsOf(found.value).id);
  if (!cancelled.ok) return cancelRefusals[cancelled.refusal];
  const after = await findInvoice(ports, termsOf(found.value).id);
  invariant(after !== undefined, 'an invoice is never deleted');
  return { status: 200, body: { data: foundView(after, ports) } };
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
