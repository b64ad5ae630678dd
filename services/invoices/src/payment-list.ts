import { type Html, html } from '@quittance/shared/html';
import { linkTo } from '@quittance/shared/page-parts';
import type { PageTexts } from '@quittance/shared/page-texts/en';
import { confirmationsOf, type Deposit, isFinal } from './domain/deposit.ts';
import type { Invoice } from './domain/invoice.ts';
import { type InvoicePayments, type MempoolPayment, shownOf } from './domain/mempool-payment.ts';
import { isThere, isWaiting } from './domain/page-state.ts';
import type { WatchedChain } from './ports.ts';
import { amountText } from './shown-names.ts';

/** More payments are counted, so that the page stays small. */
const LIMITS = { max: 10, largest: 5 };

/**
 * The payments that have arrived with their transactions, and how many more there are.
 * @param total how many payments there are
 */
export function paymentList(
  { invoice, height, ...all }: InvoicePayments & { invoice: Invoice; height: number },
  total: number,
  texts: PageTexts,
  chain: WatchedChain | undefined,
): Html | undefined {
  const { deposits, mempoolPayments } = shownOf(all, invoice.asset, LIMITS);
  if (deposits.length + mempoolPayments.length === 0) return undefined;
  const more = total - deposits.length - mempoolPayments.length;
  const item = ({ asset, amount, txHash }: Pick<Deposit, 'asset' | 'amount' | 'txHash'>, state: string) =>
    html`<li><span dir="ltr">${amountText(asset, amount)}</span><span class="soft">${state}</span>${transaction(txHash, texts, chain)}</li>
`;
  const items = [
    ...deposits.map((deposit) => item(deposit, depositText(invoice, deposit, height, texts))),
    ...mempoolPayments.map((one) => item(one, mempoolText(invoice, one, texts))),
  ];
  return html`<h2>${texts.payment.arrived}</h2>
<ul>
${items}</ul>
${more > 0 ? html`<p class="soft">${texts.payment.more(more)}</p>` : undefined}`;
}

function transaction(
  txHash: string | null,
  texts: PageTexts,
  chain: WatchedChain | undefined,
): Html | undefined {
  if (txHash === null) return undefined;
  const url = chain?.explorerUrl?.(txHash) ?? null;
  return html`<code dir="ltr">${txHash}</code>${url === null ? undefined : linkTo(url, texts.payment.explorer, 'explorer')}`;
}

function depositText(
  invoice: Invoice,
  deposit: Deposit,
  height: number,
  { payment }: Pick<PageTexts, 'payment'>,
): string {
  if (!isThere(deposit)) return payment.undone;
  const why = uncounted(invoice, deposit, payment);
  if (why !== undefined) return why;
  if (isFinal(deposit, height)) return payment.confirmed;
  if (deposit.isHeld) return payment.checked;
  return payment.confirmations(confirmationsOf(deposit, height), deposit.minConfirmations);
}

function mempoolText(
  invoice: Invoice,
  mempoolPayment: MempoolPayment,
  { payment }: Pick<PageTexts, 'payment'>,
): string {
  if (!isWaiting(mempoolPayment)) return payment.dropped;
  return uncounted(invoice, mempoolPayment, payment) ?? payment.seen;
}

function uncounted(
  invoice: Invoice,
  payment: Pick<Deposit, 'asset' | 'amount'>,
  texts: PageTexts['payment'],
): string | undefined {
  if (payment.asset !== invoice.asset) return texts.otherCurrency;
  return payment.amount < invoice.dust ? texts.tooLittle : undefined;
}
