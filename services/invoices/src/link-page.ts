import { assetSymbols, assets } from '@quittance/shared/assets';
import { type Html, type HtmlPage, html } from '@quittance/shared/html';
import { formatCents } from '@quittance/shared/money';
import { currencyName, priceText } from '@quittance/shared/page-language';
import { fact, heading, timeText } from '@quittance/shared/page-parts';
import type { PageTexts } from '@quittance/shared/page-texts/en';
import { type PageFor, shopPage } from '@quittance/shared/shop-page';
import { type FieldErrors, messagesOf } from '@quittance/shared/validation';
import { linkStatusOf, type PaymentLink } from './domain/payment-link.ts';
import { liveOf } from './live-page.ts';
import { isOffered } from './operations/offered-assets.ts';
import { about } from './payment-page.ts';
import type { Ports } from './ports.ts';
import { networkOf, pathBelow, symbolOf } from './shown-names.ts';

/** Why a payment of a link could not begin: what the payer typed, or what is missing or too many for now. */
export type LinkProblem = { status: 422 | 500 | 503; text: (to: PageFor) => string };

export const nothingOffered: LinkProblem = { status: 503, text: ({ texts }) => texts.link.nothingOffered };
export const tooManyOpen: LinkProblem = { status: 503, text: ({ texts }) => texts.link.tooManyOpen };
export const unknownPayment: LinkProblem = { status: 500, text: ({ texts }) => texts.link.unknown };
export const otherAmount: LinkProblem = { status: 422, text: ({ texts }) => texts.link.otherAmount };
export const ambiguousAmount: LinkProblem = { status: 422, text: ({ texts }) => texts.link.ambiguous };

/** An amount that no payment can have. @param isTyped the payer typed it; else it is the link's, and the shop must change it */
export const badAmount = (errors: FieldErrors, isTyped: boolean): LinkProblem => ({
  status: 422,
  text: (to) => (isTyped ? problemText(errors, to) : to.texts.link.unpayable(problemText(errors, to))),
});

/** What is wrong with an amount. Other problems have their words in the English of the API alone. */
function problemText(errors: FieldErrors, { texts: { link }, language }: PageFor): string {
  if (language === 'en') return Object.values(messagesOf(errors)).flat().join(' ');
  const known = Object.values(errors)
    .flat()
    .flatMap(({ limit }) => (limit === undefined ? [] : [link.broken[limit.rule](limit.value)]));
  return known.length === 0 ? link.broken.other : known.join(' ');
}

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
  to: PageFor,
  now: Date,
  { attempt, problem, typed = '' }: LinkForm,
): HtmlPage {
  if (linkStatusOf(link, now) !== 'active') return endedPage(link, ports, to, now);
  const { texts, language } = to;
  const { amountFiat, currency, validUntil } = link;
  const title = amountFiat === null ? texts.link.chooseAmount : priceText(language, currency, amountFiat);
  const body = html`<dl class="order">
${about(link.description, texts.label)}</dl>
${heading(undefined, title)}
<dl class="facts">
${payableIn(link, ports, texts)}${fact(
  texts.link.validUntil,
  validUntil && timeText(language, validUntil),
)}</dl>
<form method="post" action="${pathBelow(ports.settings, `/link/${link.id}`)}">
<input type="hidden" name="attempt" value="${attempt}">
${amountFiat === null ? amountField(link, typed, to) : undefined}
${problem === undefined ? undefined : html`<p class="warn" role="alert">${problem.text(to)}</p>`}
<button class="button">${texts.link.pay}</button>
</form>`;
  // In the dialog of a shop the script tells that it is there, and closes it.
  const live = liveOf(ports, to, { state: 'link', now });
  return shopPage(to, texts.link.title, body, { status: problem?.status ?? 200, hasForm: true, live });
}

/** The assets that a payment can be made in now. */
function payableIn(
  { asset, assets: some }: PaymentLink,
  ports: Parameters<typeof isOffered>[0],
  { link, on, comma }: PageTexts,
): Html | undefined {
  const offered = (asset === null ? (some ?? assetSymbols) : [asset]).filter((one) => isOffered(ports, one));
  if (offered.length === 0) return undefined;
  const names = offered.map((one) => on(symbolOf(one), networkOf(assets[one].chain)));
  return fact(link.payableIn, names.join(comma));
}

function amountField(
  { currency, amountMin, amountMax }: PaymentLink,
  typed: string,
  { texts: { link, comma }, language }: PageFor,
): Html {
  const limits = [
    ...(amountMin === null ? [] : [link.limits.atLeast(formatCents(amountMin))]),
    ...(amountMax === null ? [] : [link.limits.atMost(formatCents(amountMax))]),
  ];
  const label = [link.amountIn(currencyName(language, currency)), link.limits.both(limits)].filter(
    (part) => part !== '',
  );
  return html`<label>${label.join(comma)}
<input name="amount" inputmode="decimal" autocomplete="off" maxlength="40" required value="${typed}"></label>`;
}

function endedPage(
  link: PaymentLink,
  ports: Pick<Ports, 'chains' | 'settings'>,
  to: PageFor,
  now: Date,
): HtmlPage {
  const { link: texts } = to.texts;
  const why = linkStatusOf(link, now) === 'expired' ? texts.timeIsOver : texts.deactivated;
  const mark = { tone: 'warn', icon: 'stopped', name: texts.endedState } as const;
  const body = heading(mark, texts.ended, `${why} ${texts.askForNew}`);
  const live = liveOf(ports, to, { state: 'link_ended', now });
  return shopPage(to, texts.ended, body, { status: 410, live });
}
