import { assets } from '@quittance/shared/assets';
import { formatCents, formatRate, formatUnits, type Rate, unitsToUsd } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { type AssetCardRow, type AssetRow, type BalanceRow, storedRate } from './store/quotes.ts';
import type { SuspenseItem } from './store/suspense.ts';

const noRate = 0n as Rate;

/** None before the first quote. */
const rateOf = (text: string | null): Rate => (text === null ? noRate : storedRate(text));

/** An asset as the API shows it. */
export function assetView(row: AssetCardRow) {
  const { id, name, symbol, chain, type, decimals } = assets[row.symbol];
  return {
    id,
    name,
    symbol,
    chain,
    type,
    decimals,
    usd_rate: formatRate(rateOf(row.usdRate)),
    network_fee: formatUnits(row.networkFee, decimals),
    min_confirmations: row.minConfirmations,
  };
}

/** What can be spent of an asset, its value in US dollars, and what is held for pending payouts. */
export function balanceView(row: BalanceRow) {
  const { decimals } = assets[row.symbol];
  const available = row.available;
  return {
    asset: assetView(row),
    balance: formatUnits(available, decimals),
    usd_value: formatCents(unitsToUsd(available, rateOf(row.usdRate), decimals, 'down')),
    held: formatUnits(row.held, decimals),
  };
}

/** A deposit that went to no balance, and what became of it. */
export function unresolvedView(item: SuspenseItem) {
  const { id, symbol, name, decimals } = assets[item.asset];
  return {
    id: item.id,
    status: item.state,
    amount: formatUnits(item.amount, decimals),
    asset: { id, symbol, name, decimals },
    invoice_id: item.invoice,
    tx_hash: item.txHash,
    payout_id: item.payout === null ? null : Number(item.payout), // eslint-disable-line no-restricted-syntax -- an id below 2^53
    created_at: item.createdAt.toISOString(),
    resolved_at: item.resolvedAt?.toISOString() ?? null,
  };
}

/** The body of the 200. */
export const acceptedView = (item: SuspenseItem) => ({
  message: 'The funds were added to the balance.',
  data: unresolvedView(item),
});

/** Assets in the order of their ids, whatever order Postgres found them in. */
export const byAssetId = (a: AssetCardRow, b: AssetCardRow): number =>
  assets[a.symbol].id - assets[b.symbol].id;

/** A time that is never fresh, for an asset that no source has quoted yet. */
const NEVER = new Date(0);

/** An asset as the other services are told of it. */
export function quoteView(row: AssetRow): Quote {
  return {
    asset: row.symbol,
    active: row.active,
    usd_rate: formatRate(rateOf(row.usdRate)),
    network_fee: row.networkFee.toString(),
    min_confirmations: row.minConfirmations,
    dust: row.dust.toString(),
    sources: row.sources ?? [],
    spread_bps: row.spreadBps ?? 0,
    as_of: (row.asOf ?? NEVER).toISOString(),
  };
}
