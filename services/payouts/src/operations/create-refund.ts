import { createHash } from 'node:crypto';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { brokenConstraint } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { Unavailable } from '@quittance/shared/http';
import { type IdempotencyKey, takeKey } from '@quittance/shared/idempotency';
import { type AccountId, type InvoiceId, newRefundId } from '@quittance/shared/ids';
import { ONE_DOLLAR, parseRate, type Rate, type Units, units } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import { limitOf, type PaidInvoice, type RefundProblem, refundAmounts } from '../domain/refund.ts';
import { freshQuote, termsOf } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import type { DepositClaimOrder, RefundOrder } from '../refund-order.ts';
import { createdRefundView } from '../refund-views.ts';
import {
  insertRefundOfDeposit,
  insertRefundWithin,
  type NewRefund,
  refundedShare,
  type StoredRefund,
  tellRefunds,
} from '../store/refunds.ts';
import { hasLiveReturn } from '../store/unswept-deposits.ts';
import { RefundNotTaken } from './refund-to-pay.ts';
import { type PayoutRefusal, requestPayout } from './request-payout.ts';

const DAY_MS = 86_400_000;
/** 160 bits. */
const TOKEN_BYTES = 20;
/** Other refunds of the invoice may come first so often. */
const TRIES_MAX = 5;

/** An invoice as the service of invoices has just described it. */
export type DescribedInvoice = PaidInvoice & {
  id: InvoiceId;
  account: AccountId;
  asset: AssetSymbol;
  status: string;
  currency: string;
};

type Asked = { requestId: string; key: IdempotencyKey | undefined };

/** The body of the 201. */
type Created = Result<object, RefundRefusal | PayoutRefusal>;

/** Why there is no refund: what is left, or the least amount that can be paid. */
export type RefundRefusal = { problem: RefundProblem; refunded: Units; dust: Units };

/** Asks invoices for the invoice; null when there is none. Throws Unavailable without an answer: nothing was done. */
export async function describeInvoice(
  { bus }: Pick<Ports, 'bus'>,
  id: InvoiceId,
): Promise<DescribedInvoice | null> {
  const asked = await bus.ask('invoice.describe', { invoice_id: id });
  if (!asked.known) throw new Unavailable(`invoices did not describe an invoice: ${asked.reason}`);
  const { invoice } = asked.reply;
  if (invoice === null) return null;
  const { account_id, asset, status, currency, fiat_rate } = invoice;
  invariant(fiat_rate !== undefined || currency === 'USD', `invoice ${id} has the rate of its currency`);
  return {
    id,
    account: account_id as AccountId,
    asset,
    status,
    currency,
    due: units(invoice.amount_due),
    paid: units(invoice.paid_amount),
    decimals: assets[asset].decimals,
    rate: rateOf(invoice.usd_rate),
    fiatRate: fiat_rate === undefined ? ONE_DOLLAR : rateOf(fiat_rate),
  };
}

function rateOf(text: string): Rate {
  const rate = parseRate(text);
  invariant(rate.ok, `the rate ${text} has at most 18 decimals`);
  return rate.value;
}

/**
 * Refunds a paid invoice: by a payout when the merchant gave the address, else by a claim link. Throws Unavailable without a
 * quote. The amount is decided before the transaction that stores the refund, which stores nothing when the shares of the
 * invoice would then be more than its limit: another refund came first, and the amount is decided again.
 */
export async function createRefund(
  ports: Ports,
  invoice: DescribedInvoice,
  order: RefundOrder,
  asked: Asked,
): Promise<Created> {
  const quote = quoteFor(ports, invoice, order);
  const limit = { limit: limitOf(invoice, order.wanted), paid: invoice.paid };
  for (let tries = 1; ; tries++) {
    const refunded = await refundedShare(ports.db, invoice.id);
    const rateNow = order.rate === 'now' ? rateOf(quote.usd_rate) : null;
    const found = refundAmounts(invoice, refunded, order.wanted, rateNow);
    const dust = units(quote.dust);
    if (!found.ok) return refuse({ problem: found.refusal, refunded, dust });
    if (found.value.amount < dust) return refuse({ problem: 'too_small', refunded, dust });

    const refund = {
      ...newRefund(ports, invoice, order),
      ...found.value,
      invoiceId: invoice.id,
      depositId: null,
    };
    const made =
      'address' in order.to
        ? await payRefund(ports, refund, { ...asked, address: order.to.address, quote, limit })
        : await storeLink(ports, refund, asked, order.to.expiresInDays, (trx, link) =>
            insertRefundWithin(trx, link, limit),
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

type Begun = Omit<NewRefund, 'share' | 'amount' | 'invoiceId' | 'depositId'>;

const newRefund = (
  { clock }: Pick<Ports, 'clock'>,
  { account, asset }: { account: AccountId; asset: AssetSymbol },
  {
    requested,
    rate,
    externalId,
    metadata,
  }: Pick<RefundOrder, 'requested' | 'rate' | 'externalId' | 'metadata'>,
): Begun => ({
  id: newRefundId(),
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

type ToAddress = Asked & { address: string; quote: Quote; limit: { limit: Units; paid: Units } };

async function payRefund(
  ports: Ports,
  refund: NewRefund,
  { address, quote, limit, requestId, key }: ToAddress,
): Promise<Created> {
  let stored: StoredRefund | undefined;
  const answer = () => createdRefundView(stored ?? refund, null);
  const { id, invoiceId, account, asset, amount, externalId, metadata } = refund;
  const made = await requestPayout(ports, {
    account,
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
        stored = await insertRefundWithin(trx, { ...refund, payoutId }, limit);
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

/** Stores a refund with a claim link. The link is in this answer only: the hash of its token is stored. */
async function storeLink(
  { db, clock, random, settings, wakeRelay }: Ports,
  refund: NewRefund,
  { requestId, key }: Asked,
  expiresInDays: number,
  insert: Insert,
): Promise<Created> {
  const token = Buffer.from(random(TOKEN_BYTES)).toString('base64url');
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
      const stored = await insert(trx, link);
      if (stored === undefined) throw new RefundNotTaken();
      await tellRefunds(trx, [stored], requestId);
      isWritten = true;
    });
  } catch (error) {
    // A commit whose answer is lost may have succeeded, and a 503 would promise that nothing was done.
    if (isWritten) throw new Error('it is not known whether the claim link was stored', { cause: error });
    if (error instanceof RefundNotTaken) return refuse('not_taken');
    const broken = brokenConstraint(error);
    if (broken === 'idempotency_keys_once') return refuse('key_taken');
    if (broken === 'refunds_one_of_deposit') return refuse('already_returned');
    throw error;
  }
  failpoint('payouts.refund_link_stored');
  wakeRelay();
  return ok(createdRefundView(link, `${settings.publicUrl}/claim/${token}`));
}

export const claimHashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

type ClaimedDeposit = { id: string; account: AccountId; asset: AssetSymbol; amount: Units };

/** Makes a claim link by which an unresolved deposit is paid back. The ledger decides about the deposit when it is claimed. */
export async function createDepositClaim(
  ports: Ports,
  { id, amount, ...deposit }: ClaimedDeposit,
  { expiresInDays, externalId, metadata }: DepositClaimOrder,
  asked: Asked,
): Promise<Created> {
  const begun = newRefund(ports, deposit, { requested: 'deposit', rate: 'then', externalId, metadata });
  const refund = { ...begun, share: amount, amount, invoiceId: null, depositId: id };
  if (await hasLiveReturn(ports.db, id)) return refuse('already_returned');
  return storeLink(ports, refund, asked, expiresInDays, insertRefundOfDeposit);
}
