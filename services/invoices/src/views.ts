import type { WantedPayment } from '@quittance/chains/chain';
import { showAddress } from '@quittance/chains/registry';
import { assets, reducedAsset } from '@quittance/shared/assets';
import type { PayloadOf } from '@quittance/shared/events';
import {
  cents,
  formatCents,
  formatFiat,
  formatRate,
  formatUnits,
  ONE_DOLLAR,
  parseRate,
  type Units,
  units,
} from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { assertNever, invariant } from '@quittance/shared/result';
import type { Shop } from '@quittance/shared/shop-page';
import { confirmationsOf, type Deposit, isFinal, isInBlock } from './domain/deposit.ts';
import { amountRemaining, type Invoice } from './domain/invoice.ts';
import type { InvoiceSettings } from './domain/invoice-settings.ts';
import type { MempoolPayment } from './domain/mempool-payment.ts';
import type { Day } from './domain/volume.ts';
import type { Ports, Settings } from './ports.ts';
import type { FullInvoice } from './store/invoice-reads.ts';

/** The ports that views use beside the invoice. */
export type ViewPorts = Pick<Ports, 'quotes' | 'chains'> & { settings: Pick<Settings, 'publicUrl'> };

/** The Asset object of the API, with the current rate. */
function assetView(quote: Quote) {
  const { id, name, symbol, chain, type, decimals } = assets[quote.asset];
  const rate = parseRate(quote.usd_rate);
  invariant(rate.ok, 'a quote has a rate');
  return {
    id,
    name,
    symbol,
    chain,
    type,
    decimals,
    usd_rate: formatRate(rate.value),
    network_fee: formatUnits(units(quote.network_fee), decimals),
    min_confirmations: quote.min_confirmations,
  };
}

export const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

/**
 * An invoice in a list. Further fields only where the contract, which knows neither other currencies nor links, has no such
 * invoice.
 */
export const listItemView = (invoice: Invoice, shown: Pick<ViewPorts, 'quotes'>) => ({
  ...sharedView(invoice, shown),
  ...listOnlyView(invoice),
});

export const listOnlyView = (invoice: Pick<Invoice, 'currency' | 'paymentLinkId'>) => ({
  ...(invoice.currency === 'USD' ? {} : { currency: invoice.currency }),
  ...linkView(invoice),
});

/** What an invoice has in a list and in full. */
function sharedView(invoice: Invoice, { quotes }: Pick<ViewPorts, 'quotes'>) {
  return {
    id: invoice.id,
    external_id: invoice.externalId,
    amount_fiat: formatFiat(invoice.amountFiat),
    usd_rate: formatRate(invoice.usdRate),
    status: invoice.status,
    expires_at: iso(invoice.expiresAt),
    paid_at: iso(invoice.paidAt),
    created_at: invoice.createdAt.toISOString(),
    amount: formatUnits(invoice.amountDue, assets[invoice.asset].decimals),
    // The current rate where it is known, else the rate at creation.
    asset: assetView(quotes.latest(invoice.asset) ?? invoice.quote),
  };
}

/** An invoice in full, with its newest and its largest payments (see store/invoice-reads.ts). */
export function invoiceView(
  {
    invoice,
    height,
    deposits,
    mempoolPayments,
    paymentsTotal,
    refunds,
    refundedAmount,
  }: Omit<FullInvoice, 'syncedAt'>,
  shown: ViewPorts,
) {
  const { decimals } = assets[invoice.asset];
  // Ordered by first sight, so that a payment keeps its place when it is mined.
  const payments = [...deposits, ...mempoolPayments].sort(
    (a, b) => a.firstSeenAt.getTime() - b.firstSeenAt.getTime(),
  );
  const { asset, ...fields } = sharedView(invoice, shown);
  const remaining = amountRemaining(invoice);
  const explorer = shown.chains.get(invoice.chain);
  return {
    ...fields,
    currency: invoice.currency,
    rate: rateView(invoice),
    pending_amount: formatUnits(invoice.pendingAmount, decimals),
    paid_amount: formatUnits(invoice.paidAmount, decimals),
    reversed_amount: formatUnits(invoice.reversedAmount, decimals),
    amount_remaining: formatUnits(remaining, decimals),
    refunded_amount: formatUnits(refundedAmount, decimals),
    cancelled_at: iso(invoice.cancelledAt),
    description: invoice.description,
    metadata: invoice.metadata,
    ...linkView(invoice),
    url: pageUrl(invoice, shown),
    asset,
    address: addressView(invoice, remaining, shown),
    payments: payments.map((payment) => ({
      ...('id' in payment ? paymentView(payment, invoice, height) : mempoolPaymentView(payment, invoice)),
      explorer_url: payment.txHash === null ? null : (explorer?.explorerUrl?.(payment.txHash) ?? null),
    })),
    ...(paymentsTotal > payments.length ? { payments_total: paymentsTotal } : {}),
    refunds: refunds.map(({ id, status, amount, payoutId, createdAt }) => ({
      id,
      amount: formatUnits(amount, decimals),
      status,
      // eslint-disable-next-line no-restricted-syntax -- an id below 2^53
      payout_id: payoutId === null ? null : Number(payoutId),
      created_at: createdAt.toISOString(),
    })),
  };
}

/** A deposit that went to no balance: fields of it as GET /api/unresolved shows them. */
export function unresolvedView({ deposit_id, asset, amount, tx_hash, reason }: PayloadOf<'deposit.settled'>) {
  return {
    id: deposit_id,
    reason,
    amount: formatUnits(units(amount), assets[asset].decimals),
    asset: reducedAsset(asset),
    tx_hash,
  };
}

/** The locked rates that the amount due was computed with, in US dollars, and where they came from. */
function rateView({ currency, fiatRate, asset, usdRate, quote }: Invoice) {
  return {
    currency: {
      code: currency,
      usd_rate: fiatRate?.usd_rate ?? formatRate(ONE_DOLLAR),
      as_of: fiatRate?.as_of ?? null,
      sources: fiatRate?.sources ?? [],
    },
    asset: { symbol: asset, usd_rate: formatRate(usdRate), as_of: quote.as_of, sources: quote.sources },
  };
}

/** An account's settings; per cent of the tolerance. */
export const settingsView = ({ settings, shop }: { settings: InvoiceSettings; shop: Shop }) => ({
  currency: settings.currency,
  expires_in: settings.expiresIn,
  tolerance: formatCents(cents(BigInt(settings.toleranceBps))),
  shop_name: shop.name,
  shop_logo: shop.logo,
  language: shop.language,
  redirect_hosts: [...settings.redirectHosts],
  frame_ancestors: [...shop.frameAncestors],
});

/** A day of the volume. */
export const dayView = ({ day, created, paid, currencies }: Day) => ({
  date: day.toISOString().slice(0, 10),
  created,
  paid,
  currencies: currencies.map((one) => ({
    currency: one.currency,
    created: one.created,
    paid: one.paid,
    paid_amount: formatFiat(one.paidAmount),
  })),
});

/** What an invoice asks a wallet for: `amount` of its asset. */
export const wantedPayment = (
  { id, asset, address, description }: Invoice,
  amount: Units,
  label?: string,
): WantedPayment => ({ asset, address, amount, reference: id, label, message: description ?? undefined });

/**
 * The address and the wallet URI for `amount`. The URI is the bare address when nothing is to be paid, or when the asset is
 * no longer configured.
 * @param label whom a wallet may show as the recipient
 */
export function addressView(
  invoice: Invoice,
  amount: Units,
  { chains }: Pick<ViewPorts, 'chains'>,
  label?: string,
) {
  const { chain, asset, address } = invoice;
  const shown = showAddress(chain, address);
  const watched = chains.get(chain);
  const isPayable = amount > 0n && watched?.assets.has(asset) === true;
  return { address: shown, uri: isPayable ? watched.uri(wantedPayment(invoice, amount, label)) : shown };
}

/** Only of an invoice that a payment link created. */
export const linkView = ({ paymentLinkId }: Pick<Invoice, 'paymentLinkId'>) =>
  paymentLinkId === null ? {} : { payment_link_id: paymentLinkId };

/** The hosted payment page. */
export const pageUrl = ({ id }: Pick<Invoice, 'id'>, { settings }: Pick<ViewPorts, 'settings'>): string =>
  `${settings.publicUrl}/pay/${id}`;

const amountView = ({ asset, amount }: Pick<Deposit, 'asset' | 'amount'>, invoice: Invoice) => ({
  amount: formatUnits(amount, assets[asset].decimals),
  // A payment in another token names its asset, so that its amount is not mistaken for the invoice's.
  ...(asset === invoice.asset ? {} : { asset }),
});

function paymentView(deposit: Deposit, invoice: Invoice, height: number) {
  const status = paymentStatus(deposit, height);
  return {
    tx_hash: deposit.txHash,
    output_index: deposit.outputIndex,
    ...amountView(deposit, invoice),
    status,
    confirmations: confirmationsOf(deposit, height),
    required_confirmations: deposit.minConfirmations,
    block_height: isInBlock(deposit) ? deposit.blockHeight : null,
    first_seen_at: deposit.firstSeenAt.toISOString(),
    confirmed_at: status === 'confirmed' ? iso(deposit.confirmedAt) : null,
  };
}

/** A payment in the mempool, or one that was dropped from it. */
function mempoolPaymentView(
  mempoolPayment: MempoolPayment,
  invoice: Invoice,
): ReturnType<typeof paymentView> {
  return {
    tx_hash: mempoolPayment.txHash,
    output_index: mempoolPayment.outputIndex,
    ...amountView(mempoolPayment, invoice),
    status: mempoolPayment.droppedAt === null ? 'pending' : 'reversed',
    confirmations: 0,
    required_confirmations: invoice.minConfirmations,
    block_height: null,
    first_seen_at: mempoolPayment.firstSeenAt.toISOString(),
    confirmed_at: null,
  };
}

function paymentStatus(deposit: Deposit, height: number): 'pending' | 'confirmed' | 'reversed' {
  switch (deposit.state) {
    case 'seen':
      return isFinal(deposit, height) ? 'confirmed' : 'pending';
    case 'settled':
    // Its block left the chain and may come back. Until the deposit is reversed, it counts as confirmed.
    case 'missing':
      return 'confirmed';
    case 'dropped':
    case 'reversed':
      return 'reversed';
    default:
      return assertNever(deposit.state);
  }
}
