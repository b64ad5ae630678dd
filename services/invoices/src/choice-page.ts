import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { freshFiatRate } from '@quittance/shared/fiat-rate';
import { type Html, type HtmlPage, html } from '@quittance/shared/html';
import type { Rate } from '@quittance/shared/money';
import { priceText } from '@quittance/shared/page-language';
import { heading } from '@quittance/shared/page-parts';
import type { PageTexts } from '@quittance/shared/page-texts/en';
import { type PageFor, pageFor, shopPage } from '@quittance/shared/shop-page';
import { choiceEndsAt, choiceTimeOf, type UnchosenInvoice } from './domain/unchosen-invoice.ts';
import { type LivePage, liveOf } from './live-page.ts';
import { amountDueOf } from './operations/lock-asset.ts';
import { isOffered } from './operations/offered-assets.ts';
import { isPayable, unpayableProblem } from './operations/payable-price.ts';
import { about, timeLeft } from './payment-page.ts';
import type { Ports } from './ports.ts';
import { backTo, backToFront } from './shop-page.ts';
import { amountText, networkOf, pathBelow, symbolOf } from './shown-names.ts';

/** How often the page reloads, for the choice in another window and for the rates. */
const REFRESH_SECONDS = 30;
const REFRESH_SECONDS_MIN = 5;

/** Why a choice was not taken; the page says so and offers the assets again. */
export type ChoiceProblem = 'unavailable' | 'not_offered' | 'too_small';

const problems = {
  unavailable: { status: 503, text: 'unavailable' },
  too_small: { status: 422, text: 'tooSmall' },
  not_offered: { status: 422, text: 'notOffered' },
} as const satisfies Record<ChoiceProblem, { status: number; text: keyof PageTexts['choice'] }>;

/**
 * The payment page of an invoice before the choice: a button for each asset. It shows nothing that concerns only the merchant.
 * The form needs no token against cross-site requests: there is no session, and who knows the address may choose.
 * @param given why the choice before was not taken: that answer does not reload, it would be asked for by GET. And the version of
 *   the page, by which it is followed
 */
export function choicePage(
  invoice: UnchosenInvoice,
  ports: Pick<Ports, 'quotes' | 'fiatRates' | 'chains' | 'settings'>,
  to: PageFor,
  now: Date,
  { problem, version }: { problem?: ChoiceProblem; version?: string | undefined } = {},
): HtmlPage {
  const time = choiceTimeOf(invoice, now);
  const follows = version === undefined ? undefined : { id: invoice.id, version };
  if (time === 'expired') return overPage(invoice, ports, to, now);
  if (time === 'too_late') return tooLatePage(invoice, ports, to, { now, follows });
  const { language, texts } = to;
  const { choice, label } = texts;
  const { expiresAt } = invoice;
  const lastChoice = choiceEndsAt(invoice);
  const fiat = freshFiatRate(ports, invoice.currency);
  const { status, text } = problem === undefined ? { status: 200, text: undefined } : problems[problem];
  const mark = { tone: '', icon: 'wallet', name: choice.state } as const;
  const body = html`<dl class="order">
${about(invoice.description, label)}</dl>
${heading(mark, priceText(language, invoice.currency, invoice.amountFiat), choice.text)}
${text === undefined || fiat === undefined ? undefined : alert(choice[text])}
${fiat === undefined ? alert(choice.noRate) : choices(invoice, ports, fiat.rate, texts)}
<dl class="facts">
${expiresAt === null ? undefined : timeLeft(expiresAt, now, label.timeLeft, language)}${
  lastChoice === null ? undefined : timeLeft(lastChoice, now, choice.timeLeft, language)
}</dl>
${backToFront(texts, invoice)}`;
  const untilEnd =
    lastChoice === null ? REFRESH_SECONDS : Math.ceil((lastChoice.getTime() - now.getTime()) / 1_000);
  const seconds = Math.min(REFRESH_SECONDS, Math.max(REFRESH_SECONDS_MIN, untilEnd));
  const refresh = problem === undefined ? { seconds } : undefined;
  const live = liveOf(ports, to, { state: 'choosing', now, follows, refresh: { seconds } });
  return shopPage(to, choice.title, body, { status, refresh, hasForm: true, live });
}

const alert = (text: string): Html => html`<p class="warn" role="alert">${text}</p>`;

function choices(
  invoice: UnchosenInvoice,
  ports: Pick<Ports, 'quotes' | 'chains' | 'settings'>,
  fiatRate: Rate,
  texts: PageTexts,
): Html {
  const buttons = invoice.assets.flatMap((asset) => choice(asset, invoice, fiatRate, ports, texts) ?? []);
  const at = { currency: invoice.currency, rate: fiatRate };
  if (unpayableProblem(ports, 'amount', invoice.amountFiat, invoice.assets, at) !== undefined) {
    return html`<p class="warn">${texts.choice.allTooSmall}</p>`;
  }
  if (buttons.length === 0) return html`<p class="warn">${texts.choice.none}</p>`;
  return html`<form method="post" action="${pathBelow(ports.settings, `/pay/${invoice.id}/choose`)}">
${buttons}</form>`;
}

/** The button of an asset; undefined while it is switched off or has no fresh rate, and when the price is too small for it. */
function choice(
  asset: AssetSymbol,
  { amountFiat }: UnchosenInvoice,
  fiatRate: Rate,
  ports: Pick<Ports, 'quotes' | 'chains'>,
  texts: PageTexts,
): Html | undefined {
  const quote = isOffered(ports, asset) ? ports.quotes.fresh(asset) : undefined;
  if (quote === undefined || !isPayable(asset, amountFiat, quote, fiatRate)) return undefined;
  const amount = amountText(asset, amountDueOf(asset, amountFiat, quote, fiatRate).amountDue);
  const name = texts.on(symbolOf(asset), networkOf(assets[asset].chain));
  return html`<button class="button" name="asset" value="${asset}">${name}<small>${texts.choice.about(amount)}</small></button>
`;
}

/**
 * After a choice whose commit was not answered.
 * @param path of the payment page, which shows whether it was made
 */
export function unknownChoicePage(path: string, acceptLanguage: string | undefined): HtmlPage {
  const to = pageFor(acceptLanguage);
  const { choice } = to.texts;
  const body = html`${heading(undefined, choice.unknownTitle, choice.unknown)}
<a class="button" href="${path}">${choice.show}</a>`;
  return shopPage(to, choice.unknownTitle, body, { status: 500 });
}

/** Shortly before the end: an address that was given out now would end before it is paid. */
function tooLatePage(
  { timeoutUrl }: UnchosenInvoice,
  ports: Pick<Ports, 'chains' | 'settings'>,
  to: PageFor,
  { now, follows }: Pick<LivePage, 'now' | 'follows'>,
): HtmlPage {
  const { choice, askAgain } = to.texts;
  const mark = { tone: 'warn', icon: 'clock', name: choice.tooLateTitle } as const;
  const body = html`${heading(mark, choice.tooLateHeadline, `${choice.tooLate} ${askAgain}`)}
${backTo(to.texts, timeoutUrl)}`;
  const refresh = { seconds: REFRESH_SECONDS };
  const live = liveOf(ports, to, { state: 'too_late', now, follows, refresh });
  return shopPage(to, choice.tooLateTitle, body, { refresh, live });
}

function overPage(
  { cancelledAt, timeoutUrl }: UnchosenInvoice,
  ports: Pick<Ports, 'chains' | 'settings'>,
  to: PageFor,
  now: Date,
): HtmlPage {
  const { choice, state: names, text, askAgain } = to.texts;
  const state = cancelledAt === null ? 'expired' : 'cancelled';
  const [icon, why] =
    state === 'expired'
      ? (['hourglass', `${choice.over} ${askAgain}`] as const)
      : (['stopped', text.cancelled] as const);
  const mark = { tone: 'warn', icon, name: names[state] } as const;
  const body = html`${heading(mark, choice.overHeadline, why)}
${backTo(to.texts, timeoutUrl)}`;
  return shopPage(to, mark.name, body, { live: liveOf(ports, to, { state, now }) });
}
