import type { AssetSymbol } from '@quittance/shared/assets';
import { brokenConstraint } from '@quittance/shared/db-errors';
import { failpoint } from '@quittance/shared/failpoint';
import { freshFiatRate, noFiatRate } from '@quittance/shared/fiat-rate';
import { Unavailable } from '@quittance/shared/http';
import { type IdempotencyKey, takeKey } from '@quittance/shared/idempotency';
import { type AccountId, newRefundId } from '@quittance/shared/ids';
import { formatRate, type RatePair, type Units, units } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { claimHashOf, claimTokenOf, claimUrlOf } from '../claim-token.ts';
import {
  limitsOf,
  type Refunded,
  type RefundedNow,
  type RefundProblem,
  refundAmounts,
  worthOfRefund,
} from '../domain/refund.ts';
import { freshQuote, termsOf } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import type { DepositClaimOrder, RefundOrder } from '../refund-order.ts';
import { createdRefundView } from '../refund-views.ts';
import type { ReturnedPart } from '../returned-part.ts';
import { tellRefunds } from '../store/refund-events.ts';
import type { NewRefund, RatesNow, StoredRefund } from '../store/refund-rows.ts';
import { insertRefundOfDeposit, insertRefundWithin, refundedOf } from '../store/refunds.ts';
import { type KeptRequest, keepRequest } from '../store/request-proofs.ts';
import { DepositTaken, takeOfDeposit } from '../store/returns.ts';
import { type DescribedInvoice, rateOf } from './describe-invoice.ts';
import { RefundNotTaken } from './refund-to-pay.ts';
import { type PayoutRefusal, requestPayout } from './request-payout.ts';

const DAY_MS = 86_400_000;
/** Other refunds of the invoice may come first so often. */
const TRIES_MAX = 5;

type Asked = { request: KeptRequest; requestId: string; key: IdempotencyKey | undefined };

/** The body of the 201. */
type Created = Result<object, RefundRefusal | PayoutRefusal>;

/** Why there is no refund: what is left, or the least amount that can be paid. */
export type RefundRefusal = { problem: RefundProblem; refunded: RefundedNow; dust: Units };

/**
 * Refunds a paid invoice: by a payout when the merchant gave the address, else by a claim link. Throws Unavailable without a
 * quote, and without a rate of the currency when its rate of now is wanted. The amount is decided before the transaction that stores the refund, which stores nothing when the shares of the
 * invoice would then be more than its limit: another refund came first, and the amount is decided again.
 */
export async function createRefund(
  ports: Ports,
  invoice: DescribedInvoice,
  order: RefundOrder,
  asked: Asked,
): Promise<Created> {
  const quote = quoteFor(ports, invoice, order);
  const now = order.rate === 'now' ? ratesNow(ports, invoice, quote) : null;
  const limits = limitsOf(invoice);
  for (let tries = 1; ; tries++) {
    const refunded = await refundedOf(ports.db, invoice.id);
    const found = refundAmounts(invoice, refunded, order.wanted, now?.rates ?? null);
    const dust = units(quote.dust);
    if (!found.ok) return refuse({ problem: found.refusal, refunded, dust });
    if (found.value.amount < dust) return refuse({ problem: 'too_small', refunded, dust });

    const refund = {
      ...newRefund(ports, invoice, order, asked),
      ...found.value,
      ratesNow: now?.stored ?? null,
      currency: invoice.currency,
      worth: worthOfRefund(invoice, order.wanted, found.value.share),
      invoiceId: invoice.id,
      depositId: null,
    };
    const made =
      'address' in order.to
        ? await payRefund(ports, refund, { ...asked, address: order.to.address, quote, limits })
        : await storeLink(ports, refund, asked, order.to.expiresInDays, (trx, link) =>
            insertRefundWithin(trx, link, limits),
          );
    if (made.ok || made.refusal !== 'not_taken' || tries === TRIES_MAX) return made;
  }
}

/** The latest quote is enough to know the least amount; what is paid or converted now needs a fresh one. */
function quoteFor({ quotes }: Pick<Ports, 'quotes'>, { asset }: DescribedInvoice, order: RefundOrder): Quote {
  if ('address' in order.to || order.rate === 'now') return freshQuote({ quotes }, asset);
  const quote = quotes.latest(asset);
  if (quote === undefined) throw new Unavailable(`the smallest amount of ${asset} is not known`);
  return quote;
}

/** The rates of now that an invoice's asset and currency have, and what is stored of them. */
function ratesNow(
  ports: Pick<Ports, 'fiatRates'>,
  { asset, currency }: DescribedInvoice,
  quote: Quote,
): { rates: RatePair; stored: RatesNow } {
  const fiat = freshFiatRate(ports, currency);
  if (fiat === undefined) throw noFiatRate(currency, 'refund at the rate "then"');
  const { usd_rate, as_of, sources } = quote;
  return {
    rates: { rate: rateOf(usd_rate), fiatRate: fiat.rate },
    stored: {
      currency: {
        code: currency,
        usd_rate: formatRate(fiat.rate),
        as_of: fiat.stored?.as_of ?? null,
        sources: fiat.stored?.sources ?? [],
      },
      asset: { symbol: asset, usd_rate, as_of, sources },
    },
  };
}

type Begun = Omit<
  NewRefund,
  'share' | 'amount' | 'ratesNow' | 'currency' | 'worth' | 'invoiceId' | 'depositId'
>;

const newRefund = (
  { clock }: Pick<Ports, 'clock'>,
  { account, asset }: { account: AccountId; asset: AssetSymbol },
  {
    requested,
    rate,
    externalId,
    metadata,
  }: Pick<RefundOrder, 'requested' | 'rate' | 'externalId' | 'metadata'>,
  { request }: Pick<Asked, 'request'>,
): Begun => ({
  id: newRefundId(),
  assertionId: request.id,
  account,
  asset,
  requested,
  rate,
  state: 'pending',
  claimHash: null,
  expiresAt: null,
  payoutId: null,
  externalId,
  metadata,
  createdAt: clock.now(),
});

type ToAddress = Asked & { address: string; quote: Quote; limits: Refunded };

async function payRefund(
  ports: Ports,
  refund: NewRefund,
  { address, quote, limits, request, requestId, key }: ToAddress,
): Promise<Created> {
  let stored: StoredRefund | undefined;
  const answer = () => createdRefundView(stored ?? refund, null);
  const { id, invoiceId, account, asset, amount, externalId, metadata } = refund;
  const made = await requestPayout(ports, {
    account,
    request,
    asset,
    amount,
    takesAll: false,
    address,
    ...termsOf(quote),
    externalId,
    metadata,
    refund: {
      id,
      invoiceId,
      async take(trx, payoutId) {
        stored = await insertRefundWithin(trx, { ...refund, payoutId }, limits);
        return stored;
      },
      answer,
    },
    requestId,
    key,
  });
  return made.ok ? ok(answer()) : made;
}

type Insert = (trx: Parameters<typeof tellRefunds>[0], link: NewRefund) => Promise<StoredRefund | undefined>;

/** Stores a refund with a claim link. The link is in the answer alone: the hash of its token is stored. */
async function storeLink(
  { db, clock, settings, wakeRelay }: Ports,
  refund: NewRefund,
  { request, requestId, key }: Asked,
  expiresInDays: number,
  insert: Insert,
): Promise<Created> {
  const token = claimTokenOf(settings.claimLinksSecret, refund.id);
  const link: NewRefund = {
    ...refund,
    state: 'claimable',
    claimHash: claimHashOf(token),
    expiresAt: new Date(clock.now().getTime() + expiresInDays * DAY_MS),
  };
  let isWritten = false;
  try {
    await db.transaction(async (trx) => {
      if (key !== undefined)
        await takeKey(trx, key, link.id, { status: 201, body: createdRefundView(link, null) });
      await keepRequest(trx, request);
      const stored = await insert(trx, link);
      if (stored === undefined) throw new RefundNotTaken();
      await tellRefunds(trx, [stored], requestId);
      isWritten = true;
    });
  } catch (error) {
    // A commit whose answer is lost may have succeeded, and a 503 would promise that nothing was done.
    if (isWritten) throw new Error('it is not known whether the claim link was stored', { cause: error });
    if (error instanceof RefundNotTaken) return refuse('not_taken');
    if (error instanceof DepositTaken) return refuse(error.left > 0n ? 'too_large' : 'already_returned');
    const broken = brokenConstraint(error);
    if (broken === 'idempotency_keys_once') return refuse('key_taken');
    if (broken === 'refunds_assertion_once') return refuse('assertion_used');
    throw error;
  }
  failpoint('payouts.refund_link_stored');
  wakeRelay();
  return ok(createdRefundView(link, claimUrlOf(settings, token)));
}

type ClaimedDeposit = { id: string; account: AccountId; asset: AssetSymbol };

/** Makes a claim link by which an unresolved deposit, or a part of it, is paid back. The ledger decides about the deposit when it is claimed. */
export async function createDepositClaim(
  ports: Ports,
  { id, ...deposit }: ClaimedDeposit,
  { takes, requested }: ReturnedPart,
  { expiresInDays, externalId, metadata }: DepositClaimOrder,
  asked: Asked,
): Promise<Created> {
  const begun = newRefund(ports, deposit, { requested, rate: 'then', externalId, metadata }, asked);
  const noWorth = { ratesNow: null, currency: null, worth: null };
  const refund = { ...begun, share: takes, amount: takes, ...noWorth, invoiceId: null, depositId: id };
  return storeLink(ports, refund, asked, expiresInDays, async (trx, link) => {
    await takeOfDeposit(trx, id, takes, 'link');
    return insertRefundOfDeposit(trx, link);
  });
}
