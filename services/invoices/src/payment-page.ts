import { assets } from '@quittance/shared/assets';
import { type Html, type HtmlPage, html, page } from '@quittance/shared/html';
import { formatUnits, type Units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import { encode } from 'uqr';
import { confirmationsOf, type Deposit, isFinal } from './domain/deposit.ts';
import { amountRemaining, type Invoice } from './domain/invoice.ts';
import type { InvoicePayments, MempoolPayment } from './domain/mempool-payment.ts';
import type { Ports } from './ports.ts';
import { networkOf, priceOf, symbolOf } from './shown-names.ts';
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

export const unknownPage: HtmlPage = page(
  404,
  'No such payment',
  html`<h1>There is no such payment</h1>
<p class="soft">The address of this page may have been cut off. Please go back to the shop and try again.</p>`,
);

export const unavailablePage: HtmlPage = page(
  503,
  'One moment, please',
  html`<h1>One moment, please</h1>
<p class="soft">This payment cannot be shown right now. The page asks again by itself; money that was sent is safe.</p>`,
  REFRESH_UNAVAILABLE_SECONDS,
);

/** The state of a payment as the customer sees it. */
type PageState =
  | 'waiting'
  | 'short'
  | 'over'
  | 'seen'
  | 'confirming'
  | 'paid'
  | 'reversed'
  | 'expired'
  | 'cancelled'
  | 'late'
  | 'underpaid';

function pageStateOf(invoice: Invoice, { deposits, mempoolPayments }: InvoicePayments, now: Date): PageState {
  const isOver = invoice.expiresAt !== null && invoice.expiresAt < now;
  switch (invoice.status) {
    case 'pending':
      return isOver ? 'over' : 'waiting';
    case 'partially_paid':
      if (invoice.closedAt !== null) return 'underpaid';
      return isOver ? 'over' : 'short';
    case 'confirmed':
      return mempoolPayments.some((one) => isWaiting(one) && counts(invoice, one)) ? 'seen' : 'confirming';
    case 'paid':
      return invoice.reversedAmount > 0n ? 'reversed' : 'paid';
    case 'expired':
      if (mempoolPayments.some(isWaiting) || deposits.some(isThere)) return 'late';
      return invoice.cancelledAt === null ? 'expired' : 'cancelled';
    default:
      return assertNever(invoice.status);
  }
}

const isWaiting = ({ droppedAt }: MempoolPayment): boolean => droppedAt === null;
const isThere = ({ state }: Deposit): boolean => state !== 'dropped' && state !== 'reversed';
const counts = ({ asset, dust }: Invoice, payment: Pick<Deposit, 'asset' | 'amount'>): boolean =>
  payment.asset === asset && payment.amount >= dust;

/** The payment page of an invoice. It shows nothing that concerns only the merchant. */
export function paymentPage(
  { invoice, height, paymentsTotal, refundedAmount, ...seen }: FullInvoice,
  ports: Pick<Ports, 'chains'>,
  now: Date,
): HtmlPage {
  const { decimals, symbol, name } = assets[invoice.asset];
  const show = (amount: Units): string => `${formatUnits(amount, decimals)} ${symbolOf(symbol)}`;
  const pageState = pageStateOf(invoice, seen, now);
  const come = (invoice.pendingAmount + invoice.paidAmount) as Units;
  const rest = amountRemaining(invoice);
  const surplus = (come - invoice.amountDue) as Units;
  const amounts = {
    due: show(invoice.amountDue),
    rest: show(rest),
    come: show(come),
    reversed: show(invoice.reversedAmount),
    surplus: surplus >= invoice.dust && refundedAmount === 0n ? show(surplus) : undefined,
  };
  const isToPay = pageState === 'waiting' || pageState === 'short';
  const body = html`${heading(pageState, amounts)}
${isToPay ? toPay(invoice, rest, ports, now) : undefined}
<dl>
${about(invoice)}
<dt>Price</dt><dd>${priceOf(invoice)}, ${show(invoice.amountDue)}</dd>
${isToPay && name === networkOf(invoice.chain) ? undefined : html`<dt>Currency</dt><dd>${name}</dd>`}
</dl>
${arrived(invoice, seen, paymentsTotal, height)}
${backLink(pageState, invoice)}`;
  const isDone = pageState === 'paid' || backToShopAfter.includes(pageState);
  return page(200, titles[pageState], body, isDone ? undefined : refreshSeconds(invoice, seen, now));
}

/** What the shop says the payment is for. */
export const about = ({ description }: Pick<Invoice, 'description'>): Html | undefined =>
  description === null ? undefined : html`<dt>Description</dt><dd dir="auto">${description}</dd>`;

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

/** States in which the customer has to ask the shop. */
const backToShopAfter: readonly PageState[] = ['reversed', 'expired', 'cancelled', 'late', 'underpaid'];

const titles = {
  waiting: 'Waiting for your payment',
  short: 'Part of the payment is missing',
  over: 'The time to pay is over',
  seen: 'Payment seen',
  confirming: 'Payment received',
  paid: 'Paid',
  reversed: 'Payment undone',
  expired: 'Expired',
  cancelled: 'Cancelled',
  late: 'Too late',
  underpaid: 'Part of the payment was missing',
} as const satisfies Record<PageState, string>;

type Amounts = { due: string; rest: string; come: string; reversed: string; surplus: string | undefined };

function heading(pageState: PageState, { due, rest, come, reversed, surplus }: Amounts): Html {
  const more =
    surplus === undefined
      ? ''
      : ` That is ${surplus} more than was due, which the shop can refund: please ask it.`;
  const top = (tone: string, title: string, text: string) =>
    html`<p class="state ${tone}" role="status">${titles[pageState]}</p>
<h1>${title}</h1>
<p class="soft">${text}</p>`;
  switch (pageState) {
    case 'waiting':
      return top('', `Send ${due}`, 'Exactly this amount, to the address below, on the network named below.');
    case 'short':
      return top('warn', `Send ${rest} more`, `${come} have arrived, ${due} are due.`);
    case 'over':
      return top('warn', 'Please do not pay any more', 'We are checking the latest blocks for your payment.');
    case 'seen':
      return top(
        '',
        come,
        'It has been seen and waits for its first block on the network. You need not pay again, and may close this page.',
      );
    case 'confirming':
      return top(
        '',
        come,
        `It has arrived and is being confirmed by the network. You may close this page.${more}`,
      );
    case 'paid':
      return top('good', 'Thank you', `${come} have arrived and are confirmed.${more}`);
    case 'reversed':
      return top(
        'warn',
        `${reversed} were undone by the network`,
        'Your payment was confirmed, and the network took it back afterwards. Please ask the shop.',
      );
    case 'expired':
      return top(
        'warn',
        'Please do not pay any more',
        'No payment arrived in time; ask the shop for a new one. If you have paid already, your money is not lost: it will show here, and the shop can accept it or send it back.',
      );
    case 'cancelled':
      return top(
        'warn',
        'Please do not pay any more',
        'The shop has cancelled this payment. If you have paid already, your money is not lost: it will show here, and the shop can accept it or send it back.',
      );
    case 'late':
      return top(
        'warn',
        'Your payment came too late',
        'It arrived after the time to pay was over. Your money is not lost: please ask the shop, which can accept it or send it back. Do not pay again.',
      );
    case 'underpaid':
      return top('warn', `${come} arrived`, `${due} were due. Please ask the shop, your money is not lost.`);
    default:
      return assertNever(pageState);
  }
}

function toPay(invoice: Invoice, rest: Units, ports: Pick<Ports, 'chains'>, now: Date): Html {
  const { address, uri } = addressView(invoice, rest, ports);
  return html`${code(uri)}
<a class="button" href="${uri}">Open in a wallet</a>
<dl>
<dt>Amount</dt><dd class="copy">${formatUnits(rest, assets[invoice.asset].decimals)}</dd>
<dt>Address</dt><dd class="copy">${address}</dd>
<dt>Network</dt><dd>${networkOf(invoice.chain)}</dd>
${invoice.expiresAt === null ? undefined : timeLeft(invoice.expiresAt, now)}
</dl>`;
}

export function timeLeft(expiresAt: Date, now: Date, label = 'Time left'): Html {
  const seconds = Math.max(0, Math.ceil((expiresAt.getTime() - now.getTime()) / 1_000));
  const [number, unit] = seconds > 90 ? [Math.ceil(seconds / 60), 'minute'] : [seconds, 'second'];
  const left = `${number} ${unit}${number === 1 ? '' : 's'}`;
  return html`<dt>${label}</dt><dd><time datetime="${expiresAt.toISOString()}">${left}</time></dd>`;
}

/** A QR code as one SVG path: sharp at every size, and nothing to load. */
function code(text: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 3 });
  const modules = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return html`<svg class="code" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="240" height="240" shape-rendering="crispEdges" role="img" aria-label="The payment as a QR code for a wallet">
<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${modules.join('')}"/></svg>`;
}

/** The payments that have arrived, and how many more there are. */
function arrived(
  invoice: Invoice,
  { deposits, mempoolPayments }: InvoicePayments,
  total: number,
  height: number,
): Html | undefined {
  const more = total - deposits.length - mempoolPayments.length;
  if (deposits.length + mempoolPayments.length === 0) return undefined;
  const item = ({ asset, amount }: Pick<Deposit, 'asset' | 'amount'>, state: string) => {
    const { decimals, symbol } = assets[asset];
    return html`<li><span>${formatUnits(amount, decimals)} ${symbolOf(symbol)}</span><span class="soft">${state}</span></li>
`;
  };
  const items = [
    ...deposits.map((deposit) => item(deposit, stateOf(invoice, deposit, height))),
    ...mempoolPayments.map((one) => item(one, stateOfMempoolPayment(invoice, one))),
  ];
  return html`<h2 class="soft">Arrived</h2>
<ul>
${items}</ul>
${more > 0 ? html`<p class="soft">and ${more} more</p>` : undefined}`;
}

function stateOf(invoice: Invoice, deposit: Deposit, height: number): string {
  if (!isThere(deposit)) return 'undone by the network';
  const why = uncounted(invoice, deposit);
  if (why !== undefined) return why;
  if (isFinal(deposit, height)) return 'confirmed';
  if (deposit.isHeld) return 'being checked';
  return `${confirmationsOf(deposit, height)} of ${deposit.minConfirmations} confirmations`;
}

function stateOfMempoolPayment(invoice: Invoice, mempoolPayment: MempoolPayment): string {
  if (!isWaiting(mempoolPayment)) return 'replaced or dropped before its first block';
  return uncounted(invoice, mempoolPayment) ?? 'seen, waiting for its first block';
}

function uncounted(invoice: Invoice, payment: Pick<Deposit, 'asset' | 'amount'>): string | undefined {
  if (payment.asset !== invoice.asset) return 'another currency, not counted';
  return payment.amount < invoice.dust ? 'too little to count' : undefined;
}

function backLink(pageState: PageState, { succeedUrl, timeoutUrl }: Invoice): Html | undefined {
  const url = pageState === 'paid' ? succeedUrl : backToShopAfter.includes(pageState) ? timeoutUrl : null;
  return url === null
    ? undefined
    : html`<a class="button" href="${url}" rel="noreferrer">Back to the shop</a>`;
}
