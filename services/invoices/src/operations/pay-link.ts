import { createHash } from 'node:crypto';
import type { Trx } from '@quittance/shared/db';
import type { ExactJson } from '@quittance/shared/exact-json';
import { failpoint } from '@quittance/shared/failpoint';
import { type IdempotencyKey, otherBody } from '@quittance/shared/idempotency';
import { formatCents, formatFiat, parseCents, plainDecimal } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, messages } from '@quittance/shared/validation';
import { z } from 'zod';
import { brokenLimit, type CountedLink, decidePayment, type LinkRefusal } from '../domain/payment-link.ts';
import { isAllowedRedirect } from '../domain/shop.ts';
import { lockLink } from '../store/payment-links.ts';
import { answerTo, type Created } from './answered-request.ts';
import { type CreatePorts, createInvoice } from './create-invoice.ts';
import { ALL, isOffered } from './offered-assets.ts';

/** Why a payment did not begin; by field: what is wrong with the invoice. */
export type PayRefusal = LinkRefusal | 'other_amount' | FieldErrors;

const createdBody = z.object({ data: z.object({ id: z.string() }) });

/**
 * Begins a payment of a link: creates an invoice of its account, by the rules of every invoice. The lock of the link makes the
 * count of its open invoices exact. Throws Unavailable and UnknownOutcome as `createInvoice` does.
 * @param typed the amount that the payer typed; of a link with a fixed amount it is not read
 * @param attempt the form that the payer sent: one form creates one invoice, however often it is sent. Undefined: it has none
 * @returns the id of the invoice. Refused with why none may begin now, or with what is wrong, by field
 */
export async function payLink(
  ports: CreatePorts,
  link: CountedLink,
  { typed, attempt, requestId }: { typed: string; attempt?: string | undefined; requestId: string },
): Promise<Result<string, PayRefusal>> {
  const amount = link.amountFiat === null ? typed.trim() : formatFiat(link.amountFiat);
  const key = attempt === undefined ? undefined : keyOf(link, attempt, amount);
  const earlier = key && (await answerTo(ports, key));
  if (earlier !== undefined) return idIn(earlier);
  // Before an address is taken; it is decided once more under the lock.
  const begun = decidePayment(link, ports.clock.now());
  if (!begun.ok) return begun;
  const limit = link.amountFiat === null ? limitProblem(link, typed) : undefined;
  if (limit !== undefined) return refuse({ amount: [limit] });
  // What is switched off is left out. When nothing else is left, the invoice is refused as it would be.
  const offered = link.assets?.filter((symbol) => isOffered(ports, symbol));
  const assets = offered === undefined || offered.length === 0 ? link.assets : offered;
  const { redirectHosts } = await ports.settingsOf(link.account);
  const allowed = (url: string | null) =>
    url === null || isAllowedRedirect(url, redirectHosts) ? url : null;
  const body: ExactJson = {
    amount,
    currency: link.currency,
    ...(link.asset === null ? { assets: assets === null ? ALL : [...assets] } : { asset: link.asset }),
    description: link.description,
    metadata: { ...link.metadata },
    expires_in: link.expiresIn === null ? null : String(link.expiresIn),
    // The account may have named other hosts since: its customers pay, and are sent nowhere.
    succeed_url: allowed(link.succeedUrl),
    timeout_url: allowed(link.timeoutUrl),
  };
  const { account, id: paymentLinkId } = link;
  const admit = async (trx: Trx) => {
    const decided = decidePayment(await lockLink(trx, paymentLinkId), ports.clock.now());
    if (!decided.ok) throw new PaymentRefused(decided.refusal);
  };
  try {
    const request = { account, body, key, requestId, paymentLinkId, admit };
    const created = idIn(await createInvoice(ports, request));
    failpoint('invoices.link_followed');
    return created;
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error;
    // The same form, sent at the same moment, may have taken the last place.
    const winner = key && (await answerTo(ports, key));
    return winner === undefined ? refuse(error.refusal) : idIn(winner);
  }
}

const idIn = (created: Result<Created, FieldErrors>): Result<string, PayRefusal> =>
  created.ok
    ? ok(createdBody.parse(created.value.body).data.id)
    : refuse(created.refusal === otherBody ? 'other_amount' : created.refusal);

/** No Idempotency-Key of the shop has a line end, so none is the same. */
const keyOf = ({ account, id }: CountedLink, attempt: string, amount: string): IdempotencyKey => ({
  account,
  key: `${id}\n${attempt}`,
  bodyHash: createHash('sha256').update(amount).digest('hex'),
});

/** Rolls the transaction of a payment back. */
class PaymentRefused extends Error {
  readonly refusal: LinkRefusal;

  constructor(refusal: LinkRefusal) {
    super(`no payment of the link may begin: ${refusal}`);
    this.refusal = refusal;
  }
}

/** What no amount is, and what breaks the limits of every invoice, is refused with the invoice. */
function limitProblem(link: CountedLink, typed: string) {
  const plain = plainDecimal(typed.trim());
  const amount = plain === undefined ? undefined : parseCents(plain);
  const broken = amount?.ok === true ? brokenLimit(link, amount.value) : undefined;
  return broken && messages[broken.rule]('amount', formatCents(broken.limit));
}
