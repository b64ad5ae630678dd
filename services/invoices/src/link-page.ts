import { assetSymbols, assets } from '@quittance/shared/assets';
import { formPage, type Html, type HtmlPage, html, page, timeText } from '@quittance/shared/html';
import { formatCents } from '@quittance/shared/money';
import { pathBelow } from './choice-page.ts';
import { linkStatusOf, type PaymentLink } from './domain/payment-link.ts';
import { isOffered } from './operations/offered-assets.ts';
import type { Ports } from './ports.ts';
import { nameOfCurrency, networkOf, priceOf, symbolOf } from './shown-names.ts';

/** Why a payment of a link could not begin: what the payer typed, or what is missing or too many for now. */
export type LinkProblem = { status: 422 | 500 | 503; text: string };

export const nothingOffered: LinkProblem = {
  status: 503,
  text: 'Payments cannot begin at the moment. Please try again in a minute.',
};

export const tooManyOpen: LinkProblem = {
  status: 503,
  text: 'Too many payments of this link are open at the moment. No payment was begun. Please try again in a few minutes.',
};

export const unknownPayment: LinkProblem = {
  status: 500,
  text: 'It is not known whether the payment was begun. Please press Pay again: no second payment is begun.',
};

export const otherAmount: LinkProblem = {
  status: 422,
  text: 'A payment of another amount was begun here before. Please press Pay again to begin one of this amount.',
};

export const ambiguousAmount: LinkProblem = {
  status: 422,
  text: 'Please type the amount without a separator of thousands, such as 1000 or 1000.50.',
};

/** What the page shows beside the link. */
type LinkForm = {
  /** Of this form: sending it twice begins one payment. */
  attempt: string;
  problem?: LinkProblem | undefined;
  /** The amount that the payer typed. */
  typed?: string;
};

/**
 * The page of a payment link. Loading it creates nothing; its form creates an invoice, and needs no token against cross-site
 * requests: there is no session, and whoever has the address may pay.
 */
export function linkPage(
  link: PaymentLink,
  ports: Pick<Ports, 'quotes' | 'chains' | 'settings'>,
  now: Date,
  { attempt, problem, typed = '' }: LinkForm,
): HtmlPage {
  if (linkStatusOf(link, now) !== 'active') return endedPage(link, now);
  const { amountFiat, currency } = link;
  const title = amountFiat === null ? 'Choose the amount' : priceOf({ currency, amountFiat });
  const body = html`<h1>${title}</h1>
<dl>
<dt>Description</dt><dd dir="auto">${link.description}</dd>
${payableIn(link, ports)}
${link.validUntil === null ? undefined : html`<dt>This link is valid until</dt><dd>${timeText(link.validUntil)}</dd>`}
</dl>
<form method="post" action="${pathBelow(ports.settings, `/link/${link.id}`)}">
<input type="hidden" name="attempt" value="${attempt}">
${amountFiat === null ? amountField(link, typed) : undefined}
${problem === undefined ? undefined : html`<p class="warn" role="alert">${problem.text}</p>`}
<button class="button">Pay</button>
</form>`;
  return formPage(problem?.status ?? 200, 'Payment', body);
}

/** The assets that a payment can be made in now. */
function payableIn(
  { asset, assets: some }: PaymentLink,
  ports: Parameters<typeof isOffered>[0],
): Html | undefined {
  const offered = (asset === null ? (some ?? assetSymbols) : [asset]).filter((one) => isOffered(ports, one));
  if (offered.length === 0) return undefined;
  const names = offered.map((one) => `${symbolOf(one)} on ${networkOf(assets[one].chain)}`);
  return html`<dt>Payable in</dt><dd>${names.join(', ')}</dd>`;
}

function amountField({ currency, amountMin, amountMax }: PaymentLink, typed: string): Html {
  const limits = [
    ...(amountMin === null ? [] : [`at least ${formatCents(amountMin)}`]),
    ...(amountMax === null ? [] : [`at most ${formatCents(amountMax)}`]),
  ];
  const hint = limits.length === 0 ? '' : `, ${limits.join(' and ')}`;
  return html`<label>Amount in ${nameOfCurrency(currency)}${hint}
<input name="amount" inputmode="decimal" autocomplete="off" maxlength="40" required value="${typed}"></label>`;
}

function endedPage(link: PaymentLink, now: Date): HtmlPage {
  const text =
    linkStatusOf(link, now) === 'expired'
      ? 'Its time is over.'
      : 'The shop does not take payments here any more.';
  return page(
    410,
    'This link has ended',
    html`<p class="state warn" role="status">Ended</p>
<h1>This link has ended</h1>
<p class="soft">${text} Please ask the shop for a new one. Payments that were begun before are not affected.</p>`,
  );
}
