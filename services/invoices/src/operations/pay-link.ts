import type { ExactJson } from '@quittance/shared/exact-json';
import { failpoint } from '@quittance/shared/failpoint';
import { formatCents, formatFiat, parseCents, plainDecimal } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, messages } from '@quittance/shared/validation';
import { z } from 'zod';
import { brokenLimit, linkStatusOf, type PaymentLink } from '../domain/payment-link.ts';
import { type CreatePorts, createInvoice } from './create-invoice.ts';
import { ALL, isOffered } from './offered-assets.ts';

const createdBody = z.object({ data: z.object({ id: z.string() }) });

/**
 * Begins a payment of a link: creates an invoice of its account, by the rules of every invoice. Throws Unavailable as
 * `createInvoice` does.
 * @param typed the amount that the payer typed; of a link with a fixed amount it is not read
 * @returns the id of the invoice. Refused with `null` when the link has ended, else with what is wrong, by field
 */
export async function payLink(
  ports: CreatePorts,
  link: PaymentLink,
  { typed, requestId }: { typed: string; requestId: string },
): Promise<Result<string, FieldErrors | null>> {
  if (linkStatusOf(link, ports.clock.now()) !== 'active') return refuse(null);
  const amount = link.amountFiat === null ? typed : formatFiat(link.amountFiat);
  const limit = link.amountFiat === null ? limitProblem(link, typed) : undefined;
  if (limit !== undefined) return refuse({ amount: [limit] });
  // What is switched off is left out. When nothing else is left, the invoice is refused as it would be.
  const offered = link.assets?.filter((symbol) => isOffered(ports, symbol));
  const assets = offered === undefined || offered.length === 0 ? link.assets : offered;
  const body: ExactJson = {
    amount,
    currency: link.currency,
    ...(link.asset === null ? { assets: assets === null ? ALL : [...assets] } : { asset: link.asset }),
    description: link.description,
    metadata: { ...link.metadata },
    expires_in: link.expiresIn === null ? null : String(link.expiresIn),
    succeed_url: link.succeedUrl,
    timeout_url: link.timeoutUrl,
  };
  const { account, id: paymentLinkId } = link;
  const created = await createInvoice(ports, { account, body, key: undefined, requestId, paymentLinkId });
  if (!created.ok) return created;
  failpoint('invoices.link_followed');
  return ok(createdBody.parse(created.value.body).data.id);
}

/** What no amount is, and what breaks the limits of every invoice, is refused with the invoice. */
function limitProblem(link: PaymentLink, typed: string) {
  const plain = plainDecimal(typed.trim());
  const amount = plain === undefined ? undefined : parseCents(plain);
  const broken = amount?.ok === true ? brokenLimit(link, amount.value) : undefined;
  return broken && messages[broken.rule]('amount', formatCents(broken.limit));
}
