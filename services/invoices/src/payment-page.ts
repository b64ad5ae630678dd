import { blockTimeMs } from '@quittance/chains/block-time';
import { assets } from '@quittance/shared/assets';
import { type Html, type HtmlPage, html } from '@quittance/shared/html';
import { formatUnits, type Units } from '@quittance/shared/money';
import { durationText, fromLeft, priceText } from '@quittance/shared/page-language';
import { copied, fact, linkTo, note, timeText } from '@quittance/shared/page-parts';
import type { PageTexts } from '@quittance/shared/page-texts/en';
import { type PageFor, pageFor, shopPage } from '@quittance/shared/shop-page';
import { amountRemaining, type Invoice } from './domain/invoice.ts';
import type { InvoicePayments } from './domain/mempool-payment.ts';
import {
  amountSeen,
  confirmationProgress,
  isReadLate,
  type PageState,
  pageStateOf,
  surplusOf,
} from './domain/page-state.ts';
import { liveOf } from './live-page.ts';
import { paymentList } from './payment-list.ts';
import { pictureOf } from './payment-pictures.ts';
import type { Ports } from './ports.ts';
import { qrCode } from './qr-code.ts';
import { backTo, backToFront } from './shop-page.ts';
import { amountText, networkOf, symbolOf } from './shown-names.ts';
import type { FullInvoice } from './store/invoice-reads.ts';
import { addressView } from './views.ts';

/** How often the page reloads, by the time since the last change. */
const REFRESHES = [
  { withinMs: 10 * 60_000, seconds: 5 },
  { withinMs: 60 * 60_000, seconds: 15 },
  { withinMs: 24 * 3_600_000, seconds: 60 },
] as const;
/** After a day without a change. */
const REFRESH_SECONDS_MAX = 300;
/** While the database is away. */
const REFRESH_UNAVAILABLE_SECONDS = 15;
/** How long a customer reads that the payment has ended, before the page of the shop comes. */
const REDIRECT_SECONDS = 10;
/** Who opens the page later wants to see it. */
const REDIRECTS_WITHIN_MS = 5 * 60_000;

const noticePage = (
  key: 'unknown' | 'unavailable' | 'failed',
  acceptLanguage: string | undefined,
  options: { status: number; refresh?: { seconds: number } },
): HtmlPage => {
  const to = pageFor(acceptLanguage);
  const { title, text } = to.texts.notice[key];
  return shopPage(to, title, html`<h1>${title}</h1>\n<p class="soft">${text}</p>`, options);
};

export const unknownPage = (acceptLanguage: string | undefined, status = 404): HtmlPage =>
  noticePage('unknown', acceptLanguage, { status });

export const failedPage = (acceptLanguage: string | undefined, status = 500): HtmlPage =>
  noticePage('failed', acceptLanguage, { status });

export const unavailablePage = (acceptLanguage: string | undefined): HtmlPage =>
  noticePage('unavailable', acceptLanguage, {
    status: 503,
    refresh: { seconds: REFRESH_UNAVAILABLE_SECONDS },
  });

/**
 * The payment page of an invoice. It shows nothing that concerns only the merchant.
 * @param given whether the customer has asked not to be taken back to the shop, and the version of the page, by which it is
 *   followed
 */
export function paymentPage(
  { invoice, height, syncedAt, paymentsTotal, refundedAmount, ...seen }: FullInvoice,
  ports: Pick<Ports, 'chains' | 'settings'>,
  to: PageFor,
  now: Date,
  { stays = false, version }: { stays?: boolean; version?: string | undefined } = {},
): HtmlPage {
  const { texts } = to;
  const chain = ports.chains.get(invoice.chain);
  const isLate = chain !== undefined && isReadLate(syncedAt, now, chain.outageMs);
  const state = pageStateOf(invoice, seen, refundedAmount, { now, syncedAt, isLate });
  const show = (amount: Units): string => fromLeft(to.language, amountText(invoice.asset, amount));
  const surplus = surplusOf(invoice, refundedAmount);
  const rest = amountRemaining(invoice);
  const amounts = {
    due: show(invoice.amountDue),
    rest: show(rest),
    come: show(amountSeen(invoice)),
    reversed: show(invoice.reversedAmount),
    surplus: surplus && show(surplus),
    network: networkOf(invoice.chain),
  };
  const isToPay = state === 'waiting' || state === 'short';
  const redirect = stays ? undefined : redirectOf(state, invoice, now);
  const body = html`<dl class="order">
${aboutPayment(invoice, amounts.due, isToPay, to)}</dl>
${pictureOf(state, amounts, texts)}
${isLate && !hasEnded(state) ? delayNote(isToPay, invoice, texts) : undefined}
${state === 'confirming' ? progress(invoice, seen, height, texts) : undefined}
${isToPay ? toPay(invoice, rest, ports, to, now) : undefined}
${isReceipt(state) ? receipt(invoice, to) : undefined}
${paymentList({ invoice, height, ...seen }, paymentsTotal, texts, chain)}
${isReceipt(state) ? html`<p class="soft screen">${texts.text.receipt}</p>` : undefined}
${backLink(state, invoice, texts)}
${redirect && redirectNote(texts)}`;
  const isDone = isReceipt(state) && invoice.pendingAmount === 0n;
  const refresh = isDone ? undefined : { seconds: refreshSeconds(invoice, seen, now) };
  const live = liveOf(ports, to, {
    ...{ state, now, refresh, redirect: redirect?.url },
    follows: isDone || version === undefined ? undefined : { id: invoice.id, version },
    toPay: isToPay ? { invoice, rest } : undefined,
  });
  return shopPage(to, texts.state[state], body, { refresh: redirect ?? refresh, live });
}

const isReceipt = (state: PageState): boolean => state === 'paid' || state === 'overpaid';
/** States in which the customer has to ask the shop. */
const backToShopAfter: readonly PageState[] = ['reversed', 'expired', 'cancelled', 'late', 'underpaid'];
/** States in which nothing is expected of the customer. What still arrives is shown nevertheless. */
const hasEnded = (state: PageState): boolean => isReceipt(state) || backToShopAfter.includes(state);

/** What is paid, and for how much. */
function aboutPayment(
  { chain, asset, currency, amountFiat, description }: Invoice,
  due: string,
  isToPay: boolean,
  { texts: { label, comma }, language }: PageFor,
): Html {
  const { name } = assets[asset];
  // The own coin of a network has its name, which stands above already.
  const isNamed = isToPay && name === networkOf(chain);
  return html`${about(description, label)}${fact(label.price, `${priceText(language, currency, amountFiat)}${comma}${due}`)}${
    isNamed ? undefined : fact(label.currency, name)
  }`;
}

/** What the shop says the payment is for. */
export const about = (description: string | null, label: PageTexts['label']): Html | undefined =>
  description === null ? undefined : html`<dt>${label.description}</dt><dd dir="auto">${description}</dd>\n`;

/** What a receipt has beside. */
const receipt = (
  { asset, paidAmount, paidAt, chain, id }: Invoice,
  { shop, texts: { label }, language }: PageFor,
): Html =>
  html`<dl class="facts">
${fact(label.shop, shop.name === null ? undefined : html`<span dir="auto">${shop.name}</span>`)}${fact(label.paid, fromLeft(language, amountText(asset, paidAmount)))}${fact(label.network, networkOf(chain))}${fact(label.paidAt, paidAt && timeText(language, paidAt))}${fact(label.invoice, html`<code dir="ltr">${id}</code>`)}</dl>`;

/** How far the payment is, and how long the rest takes on a usual day. */
function progress(
  invoice: Invoice,
  { deposits }: InvoicePayments,
  height: number,
  { progress, payment }: PageTexts,
): Html | undefined {
  const found = confirmationProgress(invoice, deposits, height);
  if (found === undefined) return undefined;
  const { confirmations, needed } = found;
  const leftMs = (needed - confirmations) * blockTimeMs[invoice.chain];
  const soon = leftMs < 60_000 ? progress.lessThanAMinute : progress.about(Math.ceil(leftMs / 60_000));
  return html`<progress value="${confirmations}" max="${needed}" aria-label="${progress.label}">${payment.confirmations(confirmations, needed)}</progress>
<p class="soft">${payment.confirmations(confirmations, needed)}. ${soon}.</p>`;
}

const delayNote = (isToPay: boolean, { chain, expiresAt }: Invoice, { delay }: PageTexts): Html =>
  note(
    'warn',
    isToPay && expiresAt !== null ? `${delay.text} ${delay.extended}` : delay.text,
    delay.title(networkOf(chain)),
  );

function toPay(
  invoice: Invoice,
  rest: Units,
  ports: Pick<Ports, 'chains'>,
  { texts, language, shop }: PageFor,
  now: Date,
): Html {
  const { address, uri } = addressView(invoice, rest, ports, shop.name ?? undefined);
  const { label, pay } = texts;
  const [symbol, network] = [symbolOf(invoice.asset), networkOf(invoice.chain)];
  const code = qrCode(uri, pay.qr);
  const { expiresAt } = invoice;
  return html`<div class="pay">
<figure class="wide">${code.wide}</figure>
<a class="button" href="${uri}">${pay.openWallet}</a>
<dl>
${copied(label.amountIn(symbol), formatUnits(rest, assets[invoice.asset].decimals))}${copied(label.address, address)}</dl>
<details class="narrow"><summary>${pay.showQr}</summary>${code.narrow}</details>
</div>
${note('', pay.onlyOn(symbol, network))}<dl class="facts">
${fact(label.network, network)}${
  // After the end it is still to be paid while the end is extended, nobody knows by how much.
  expiresAt === null || expiresAt < now ? undefined : timeLeft(expiresAt, now, label.timeLeft, language)
}</dl>`;
}

/** How much time is left; a script may count it down. */
export function timeLeft(expiresAt: Date, now: Date, label: string, language: PageFor['language']): Html {
  const seconds = Math.max(0, Math.ceil((expiresAt.getTime() - now.getTime()) / 1_000));
  const left =
    seconds > 90
      ? durationText(language, Math.ceil(seconds / 60), 'minute')
      : durationText(language, seconds, 'second');
  return html`<dt>${label}</dt><dd><time class="left" datetime="${expiresAt.toISOString()}">${left}</time></dd>\n`;
}

/** How soon the page reloads: quickly after a change, then less and less often. The page also reloads at the expiry. */
function refreshSeconds(
  { createdAt, expiresAt }: Invoice,
  { deposits, mempoolPayments }: InvoicePayments,
  now: Date,
): number {
  const changes = [createdAt, ...[...deposits, ...mempoolPayments].map(({ firstSeenAt }) => firstSeenAt)];
  const untilEnd = expiresAt === null ? undefined : expiresAt.getTime() - now.getTime();
  if (expiresAt !== null && expiresAt <= now) changes.push(expiresAt);
  const last = changes.reduce((latest, change) => Math.max(latest, change.getTime()), 0);
  const seconds =
    REFRESHES.find(({ withinMs }) => now.getTime() - last < withinMs)?.seconds ?? REFRESH_SECONDS_MAX;
  if (untilEnd === undefined || untilEnd <= 0) return seconds;
  return Math.min(seconds, Math.max(REFRESHES[0].seconds, Math.ceil(untilEnd / 1_000)));
}

function backLink(state: PageState, invoice: Invoice, texts: PageTexts): Html | undefined {
  if (isReceipt(state)) return backTo(texts, invoice.succeedUrl);
  return backToShopAfter.includes(state) ? backTo(texts, invoice.timeoutUrl) : backToFront(texts, invoice);
}

/**
 * Where the customer is taken after the payment: only from a page that asks nothing of the customer, and only soon after it
 * ended.
 */
function redirectOf(
  state: PageState,
  { succeedUrl, timeoutUrl, paidAt, closedAt, pendingAmount }: Invoice,
  now: Date,
): { seconds: number; url: string } | undefined {
  const [url, endedAt] =
    state === 'paid' ? [succeedUrl, paidAt] : state === 'expired' ? [timeoutUrl, closedAt] : [null, null];
  // More is on the way, which the shop may have to refund: that can be followed here.
  if (url === null || endedAt === null || pendingAmount > 0n) return undefined;
  return now.getTime() - endedAt.getTime() < REDIRECTS_WITHIN_MS
    ? { seconds: REDIRECT_SECONDS, url }
    : undefined;
}

const redirectNote = ({ redirect }: PageTexts): Html =>
  html`<p class="back" data-seconds="${REDIRECT_SECONDS}">${redirect.soon(REDIRECT_SECONDS)} ${linkTo('?stay', redirect.stay, 'explorer')}</p>`;
