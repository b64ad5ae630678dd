import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { freshFiatRate } from '@quittance/shared/fiat-rate';
import { formPage, type Html, type HtmlPage, html, page } from '@quittance/shared/html';
import { formatUnits, type Rate } from '@quittance/shared/money';
import { choiceEndsAt, choiceTimeOf, type UnchosenInvoice } from './domain/unchosen-invoice.ts';
import { amountDueOf } from './operations/lock-asset.ts';
import { isOffered } from './operations/offered-assets.ts';
import { isPayable, unpayableProblem } from './operations/payable-price.ts';
import { about, timeLeft } from './payment-page.ts';
import type { Ports } from './ports.ts';
import { networkOf, priceOf, symbolOf } from './shown-names.ts';

/** How often the page reloads, for the choice in another window and for the rates. */
const REFRESH_SECONDS = 30;
const REFRESH_SECONDS_MIN = 5;

/** Why a choice was not taken; the page says so and offers the assets again. */
export type ChoiceProblem = 'unavailable' | 'not_offered' | 'too_small';

const problems = {
  unavailable: {
    status: 503,
    text: 'This currency cannot be used at the moment. Please choose another one, or try again in a minute.',
  },
  too_small: { status: 422, text: 'This price is too small to be paid in this currency.' },
  not_offered: { status: 422, text: 'Please choose one of these currencies.' },
} as const satisfies Record<ChoiceProblem, { status: number; text: string }>;

/** The path of a page below PUBLIC_URL, which may have a path itself. */
export const pathBelow = ({ publicUrl }: { publicUrl: string }, path: string): string =>
  `${new URL(publicUrl).pathname.replace(/\/$/, '')}${path}`;

/**
 * The payment page of an invoice before the choice: a button for each asset. It shows nothing that concerns only the merchant.
 * The form needs no token against cross-site requests: there is no session, and who knows the address may choose.
 * @param problem why the choice before was not taken. That answer does not reload: it would be asked for by GET
 */
export function choicePage(
  invoice: UnchosenInvoice,
  ports: Pick<Ports, 'quotes' | 'fiatRates' | 'chains' | 'settings'>,
  now: Date,
  problem?: ChoiceProblem,
): HtmlPage {
  const time = choiceTimeOf(invoice, now);
  if (time === 'expired') return overPage(invoice);
  if (time === 'too_late') return tooLatePage(invoice);
  const { expiresAt } = invoice;
  const lastChoice = choiceEndsAt(invoice);
  const fiat = freshFiatRate(ports, invoice.currency);
  const { status, text } = problem === undefined ? { status: 200, text: undefined } : problems[problem];
  const body = html`<p class="state" role="status">Waiting for your choice</p>
<h1>${priceOf(invoice)}</h1>
<p class="soft">Choose what you pay with. The exact amount is set when you choose.</p>
${text === undefined || fiat === undefined ? undefined : html`<p class="warn" role="alert">${text}</p>`}
${fiat === undefined ? noRate : choices(invoice, ports, fiat.rate)}
<dl>
${about(invoice)}
${expiresAt === null ? undefined : timeLeft(expiresAt, now)}
${lastChoice === null ? undefined : timeLeft(lastChoice, now, 'Time left to choose')}
</dl>`;
  const untilEnd =
    lastChoice === null ? REFRESH_SECONDS : Math.ceil((lastChoice.getTime() - now.getTime()) / 1_000);
  const refresh = Math.min(REFRESH_SECONDS, Math.max(REFRESH_SECONDS_MIN, untilEnd));
  return formPage(status, 'Choose how to pay', body, problem === undefined ? refresh : undefined);
}

/** Without the rate of its currency nothing can be chosen. */
const noRate = html`<p class="warn" role="alert">There is no exchange rate for this price at the moment. Please try again in a minute.</p>`;

function choices(
  invoice: UnchosenInvoice,
  ports: Pick<Ports, 'quotes' | 'chains' | 'settings'>,
  fiatRate: Rate,
): Html {
  const buttons = invoice.assets.flatMap((asset) => choice(asset, invoice, fiatRate, ports) ?? []);
  const at = { currency: invoice.currency, rate: fiatRate };
  if (unpayableProblem(ports, 'amount', invoice.amountFiat, invoice.assets, at) !== undefined) {
    return html`<p class="warn">This price is too small to be paid in any of the currencies that the shop offers for it. Please ask the shop for another payment.</p>`;
  }
  if (buttons.length === 0) {
    return html`<p class="warn">No currency can be used at the moment. Please try again in a minute.</p>`;
  }
  return html`<form method="post" action="${pathBelow(ports.settings, `/pay/${invoice.id}/choose`)}">
${buttons}</form>`;
}

/** The button of an asset; undefined while it is switched off or has no fresh rate, and when the price is too small for it. */
function choice(
  asset: AssetSymbol,
  { amountFiat }: UnchosenInvoice,
  fiatRate: Rate,
  ports: Pick<Ports, 'quotes' | 'chains'>,
): Html | undefined {
  const quote = isOffered(ports, asset) ? ports.quotes.fresh(asset) : undefined;
  if (quote === undefined || !isPayable(asset, amountFiat, quote, fiatRate)) return undefined;
  const { symbol, chain, decimals } = assets[asset];
  const amount = formatUnits(amountDueOf(asset, amountFiat, quote, fiatRate).amountDue, decimals);
  const shown = symbolOf(symbol);
  return html`<button class="button" name="asset" value="${asset}">${shown} on ${networkOf(chain)}<small>about ${amount} ${shown}</small></button>
`;
}

/**
 * After a choice whose commit was not answered.
 * @param path of the payment page, which shows whether it was made
 */
export const unknownChoicePage = (path: string): HtmlPage =>
  page(
    500,
    'Please look again',
    html`<h1>Please look again</h1>
<p class="soft">It is not known whether your choice was stored. The payment page shows it. If nothing is chosen there, please choose again.</p>
<a class="button" href="${path}">Show the payment</a>`,
  );

/** Shortly before the end: an address that was given out now would end before it is paid. */
const tooLatePage = ({ timeoutUrl }: UnchosenInvoice): HtmlPage =>
  page(
    200,
    'Too late to choose',
    html`<p class="state warn" role="status">Too late to choose</p>
<h1>Nothing can be chosen here any more</h1>
<p class="soft">This payment ends in less than a minute, which is too short to pay it. Please ask the shop for a new payment.</p>
${backToShop(timeoutUrl)}`,
    REFRESH_SECONDS,
  );

const backToShop = (url: string | null): Html | undefined =>
  url === null ? undefined : html`<a class="button" href="${url}" rel="noreferrer">Back to the shop</a>`;

function overPage({ cancelledAt, timeoutUrl }: UnchosenInvoice): HtmlPage {
  const [title, text] =
    cancelledAt === null
      ? (['Expired', 'The time to pay is over. Please ask the shop for a new payment.'] as const)
      : (['Cancelled', 'The shop has cancelled this payment.'] as const);
  return page(
    200,
    title,
    html`<p class="state warn" role="status">${title}</p>
<h1>Nothing can be paid here any more</h1>
<p class="soft">${text}</p>
${backToShop(timeoutUrl)}`,
  );
}
