import { assetSymbols, assets } from '@quittance/shared/assets';
import { refundStatuses } from '@quittance/shared/events';
import { type Form, form } from '@quittance/shared/form';
import { contextOf, readBody, unknownInput, unknownParameters } from '@quittance/shared/http';
import {
  type AccessRefusal,
  type Answer,
  accessAnswers,
  answers,
  send,
} from '@quittance/shared/http-answers';
import { type IdempotencyKey, isIdempotencyKey, readKey } from '@quittance/shared/idempotency';
import type { AccountId, InvoiceId, RefundId } from '@quittance/shared/ids';
import { merchantOnly } from '@quittance/shared/merchant-only';
import { formatCents, formatUnits, type Units, units } from '@quittance/shared/money';
import { paged, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import { assertNever, ok, type Result, refuse } from '@quittance/shared/result';
import { messages, rules } from '@quittance/shared/validation';
import type { Express, Request, Response } from 'express';
import { claimHashOf, claimTokenOf, claimUrlOf } from '../claim-token.ts';
import { fiatWithin, leftOf, type RefundState } from '../domain/refund.ts';
import { cancelClaim } from '../operations/claim-refund.ts';
import { createDepositClaim, createRefund, type RefundRefusal } from '../operations/create-refund.ts';
import { type DescribedInvoice, describeInvoice } from '../operations/describe-invoice.ts';
import type { PayoutRefusal } from '../operations/request-payout.ts';
import { EXTERNAL_ID_CHARACTERS_MAX } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { type RefundOrder, readDepositClaim, readRefundOrder } from '../refund-order.ts';
import { refundView, shownState } from '../refund-views.ts';
import { readReturnedPart, tooLittleLeft } from '../returned-part.ts';
import { findShownRefund, refundPage } from '../store/refund-list.ts';
import type { StoredRefund } from '../store/refund-rows.ts';
import { findRefundByClaim } from '../store/refunds.ts';
import { freeForLink } from '../store/returns.ts';
import type { UnresolvedDeposit } from '../store/unswept-deposits.ts';
import { answeredBefore, refusalAnswer, requestOf } from './pay-once.ts';

/** What merchants ask about refunds. */
export function routeRefunds(app: Express, ports: Ports): void {
  const merchant = merchantOnly('payouts', ports.settings.gatewayKeys, ports.clock);
  app.get('/api/refunds', merchant, async (req, res) => send(res, await listRefunds(ports, req, res)));
  app.get('/api/refunds/:id', merchant, async (req, res) => send(res, await showRefund(ports, req, res)));
  app.post('/api/refunds/:id/cancel', merchant, ...readBody, async (req, res) =>
    send(res, await cancel(ports, req, res)),
  );
  app.post('/api/invoices/:id/refunds', merchant, ...readBody, async (req, res) =>
    send(res, await refundInvoice(ports, req, res)),
  );
}

const ID_CHARACTERS_MAX = 64;

const listFields = {
  perPage: perPageField,
  status: rules.oneOf(refundStatuses).optional,
  asset: rules.oneOf(assetSymbols).optional,
  invoice_id: rules.text(ID_CHARACTERS_MAX).optional,
  deposit_id: rules.text(ID_CHARACTERS_MAX).optional,
  external_id: rules.text(EXTERNAL_ID_CHARACTERS_MAX).optional,
  created_from: rules.date().optional,
  created_to: rules.date().optional,
};

/** The filters of the list of refunds. */
export const refundFilters: Form<typeof listFields> = form(listFields, paged);

async function listRefunds({ db, settings, clock }: Ports, req: Request, res: Response): Promise<Answer> {
  const filter = refundFilters(req.query);
  if (!filter.ok) return answers.invalid(filter.refusal);
  const { perPage, status, asset, invoice_id, deposit_id, external_id, created_from, created_to } =
    filter.value;
  const page = pageOf(req.query);
  const asked = {
    account: contextOf(res).identity.account,
    status,
    asset,
    invoiceId: invoice_id,
    depositId: deposit_id,
    externalId: external_id,
    createdFrom: created_from,
    createdTo: created_to,
  };
  const { items, total } = await refundPage(db, asked, placeOf(page, perPage));
  const path = `${settings.publicUrl}/api/refunds`;
  const data = items.map((refund) => refundView(refund, clock.now()));
  return { status: 200, body: pageView({ data, total, page, perPage, path, query: req.query }) };
}

async function showRefund(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await findOwn(ports, req, res);
  if (!found.ok) return accessAnswers('Refund')[found.refusal];
  return unknownParameters(req) ?? { status: 200, body: refundView(found.value, ports.clock.now()) };
}

/** A refund of the caller. */
async function findOwn(
  { db }: Ports,
  req: Request,
  res: Response,
): Promise<Result<StoredRefund, AccessRefusal>> {
  const id = String(req.params['id']);
  const refund = /^ref_[0-9a-z]{36}$/.test(id) ? await findShownRefund(db, id) : undefined;
  if (refund === undefined) return refuse('not_found');
  return refund.account === contextOf(res).identity.account ? ok(refund) : refuse('forbidden');
}

async function cancel(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await findOwn(ports, req, res);
  if (!found.ok) return accessAnswers('Refund')[found.refusal];
  const refused = unknownInput(req, res);
  if (refused !== undefined) return refused;
  await cancelClaim(ports, found.value.id);
  const after = await findOwn(ports, req, res);
  if (!after.ok) return accessAnswers('Refund')[after.refusal];
  const now = ports.clock.now();
  const state = shownState(after.value, now);
  return state === 'cancelled'
    ? { status: 200, body: { data: refundView(after.value, now) } }
    : notCancelable[state];
}

const notCancelable = {
  // Its payout has failed after the attempt to cancel it.
  claimable: answers.conflict('The refund has just become claimable again. Send the request again.'),
  pending: answers.notCancelable('The refund is being paid, so it cannot be cancelled.'),
  completed: answers.notCancelable('The refund is paid, so it cannot be cancelled.'),
  failed: answers.notCancelable('The refund has failed, so it cannot be cancelled.'),
  expired: answers.notCancelable('The claim link has expired, so it cannot be cancelled.'),
  voided: accessAnswers('Refund').not_found,
} as const satisfies Record<Exclude<RefundState, 'cancelled'>, Answer>;

async function refundInvoice(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const id = String(req.params['id']);
  const { identity, rawBody, body, requestId } = contextOf(res);
  const invoice = /^inv_[0-9a-z]{36}$/.test(id) ? await describeInvoice(ports, id as InvoiceId) : null;
  if (invoice === null) return answers.noModel('Invoice');
  if (invoice.account !== identity.account) return answers.unauthorized;
  const refused = unknownParameters(req);
  if (refused !== undefined) return refused;
  const asked = Buffer.concat([Buffer.from(`refund ${id}\n`), rawBody]);
  return refundOnce(
    ports,
    { account: identity.account, idempotencyKey: req.headers['idempotency-key'], asked },
    async (key) => {
      const order = readRefundOrder(body, invoice, ports);
      if (!order.ok) return ok(answers.invalid(order.refusal));
      if (invoice.status !== 'paid' && invoice.paid === 0n) return ok(notPaid);
      const made = await createRefund(ports, invoice, order.value, {
        ...{ request: requestOf(req, res), requestId, key },
      });
      if (made.ok) return ok({ status: 201, body: made.value });
      return isProblem(made.refusal)
        ? ok(problemAnswer(made.refusal, invoice, order.value))
        : refuse(made.refusal);
    },
  );
}

/** Makes a claim link for an unresolved deposit of the caller. */
export async function claimDeposit(
  ports: Ports,
  req: Request,
  res: Response,
  { id, asked, deposit }: { id: string; asked: Buffer; deposit: UnresolvedDeposit },
): Promise<Answer> {
  const { identity, body, requestId } = contextOf(res);
  const { account } = identity;
  return refundOnce(
    ports,
    { account, idempotencyKey: req.headers['idempotency-key'], asked },
    async (key) => {
      if (deposit.isReversed) return ok(answers.alreadyResolved('reversed'));
      const free = await freeForLink(ports.db, id, deposit);
      const part = readReturnedPart(body, deposit, free);
      const { asset, amount } = deposit;
      const order = readDepositClaim(body, { asset, amount: part.ok ? part.value.takes : amount }, ports);
      if (!part.ok || !order.ok) {
        return ok(answers.invalid({ ...(order.ok ? {} : order.refusal), ...(part.ok ? {} : part.refusal) }));
      }
      const refused = tooLittleLeft(deposit, free, part.value);
      if (refused !== undefined) return ok(refused);
      const made = await createDepositClaim(ports, { id, account, asset }, part.value, order.value, {
        ...{ request: requestOf(req, res), requestId, key },
      });
      if (made.ok) return ok({ status: 201, body: made.value });
      return refuse(made.refusal as PayoutRefusal);
    },
  );
}

type RefundCall = { account: AccountId; idempotencyKey: string | string[] | undefined; asked: Buffer };

/**
 * Answers a request of a refund once: a request that repeats the Idempotency-Key gets the first answer, also when what it
 * asks for is refused now because the first one was carried out.
 */
async function refundOnce(
  ports: Ports,
  { account, idempotencyKey, asked }: RefundCall,
  run: (key: IdempotencyKey | undefined) => Promise<Result<Answer, PayoutRefusal>>,
): Promise<Answer> {
  const given = readKey(idempotencyKey, account, asked);
  if (given !== undefined && !isIdempotencyKey(given)) return answers.invalid(given);
  const earlier = given && (await answeredBefore(ports, given));
  if (earlier !== undefined) return withClaimUrl(ports, earlier);
  const made = await run(given);
  if (made.ok && made.value.status === 201) return made.value;
  // The key keeps this answer, which is the first.
  if (!made.ok && typeof made.refusal === 'object') return refusalAnswer(made.refusal);
  const first = given && (await answeredBefore(ports, given));
  if (first !== undefined) return withClaimUrl(ports, first);
  if (made.ok) return made.value;
  return refusalAnswer(made.refusal);
}

/** A stored answer has no claim link. It is added where the token that is derived now is still that of the refund. */
async function withClaimUrl({ db, settings }: Ports, answer: Answer): Promise<Answer> {
  const body = answer.body as { data?: { id?: RefundId; expires_at?: string | null } };
  const { data } = body;
  if (data?.id === undefined || typeof data.expires_at !== 'string') return answer;
  const token = claimTokenOf(settings.claimLinksSecret, data.id);
  const refund = await findRefundByClaim(db, claimHashOf(token));
  if (refund?.id !== data.id) return answer;
  return { ...answer, body: { ...body, data: { ...data, claim_url: claimUrlOf(settings, token) } } };
}

const isProblem = (refusal: RefundRefusal | PayoutRefusal): refusal is RefundRefusal =>
  typeof refusal === 'object' && 'problem' in refusal;

const notPaid = answers.nothingToRefund(
  'The invoice is not paid, so nothing of it is in the balance.',
  'Funds that came too late or were too little are unresolved: return them with POST /api/unresolved/{id}/return, or accept them, and then refund them here.',
);

/** Says what was paid, what was refunded, and what open claim links promise. */
function problemAnswer(
  { problem, refunded, dust }: RefundRefusal,
  invoice: DescribedInvoice,
  { wanted, rate }: Pick<RefundOrder, 'wanted' | 'rate'>,
): Answer {
  const { paid, due, decimals, asset } = invoice;
  const text = (amount: Units) => `${formatUnits(amount, decimals)} ${assets[asset].symbol}`;
  const left = leftOf(invoice, refunded, wanted);
  const isPromised = refunded.promised > 0n;
  const was = isPromised
    ? `${text(paid)} was paid: ${text(units(refunded.all - refunded.promised))} of it was refunded, and open claim links promise ${text(refunded.promised)}`
    : `${text(paid)} was paid, ${text(refunded.all)} of it was refunded`;
  const links = isPromised
    ? ` GET /api/refunds?invoice_id=${invoice.id}&status=claimable lists the links, and POST /api/refunds/{id}/cancel cancels one.`
    : '';
  switch (problem) {
    case 'nothing_left': {
      const surplus = wanted === 'surplus' ? `, and ${text(due)} was due` : '';
      return answers.nothingToRefund('Nothing is left to refund.', `${was}${surplus}.${links}`);
    }
    case 'too_large':
      return answers.refundTooLarge(
        `${was}: at most ${text(left)}${inFiat()} is left. "all" refunds it.${links}`,
      );
    case 'too_small': {
      const at = rate === 'now' ? ' at the current rate' : '';
      const hint = `${was}. What is refunded must be at least ${text(dust)}${at}.`;
      return answers.invalid({ amount: [messages.invalid('amount', hint)] });
    }
    default:
      return assertNever(problem);
  }

  /** As the merchant asked: an amount that fits. Nothing where that is less than the smallest amount of its currency. */
  function inFiat(): string {
    const cents = fiatWithin(invoice, left);
    return cents > 0n ? ` (${formatCents(cents)} ${invoice.currency})` : '';
  }
}
