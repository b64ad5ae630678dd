import { type AssetSymbol, assets, reducedAsset } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import {
  formatCents,
  formatRate,
  formatUnits,
  ONE_DOLLAR,
  type Rate,
  type Units,
  unitsToUsd,
  worthOfUnits,
} from '@quittance/shared/money';
import type { FiatRate, Quote } from '@quittance/shared/quotes';
import { partsOf, payoutOf, sourceOf, transactionIdOf, typeOf } from './domain/balance-transaction.ts';
import type { Month, MonthStatement } from './domain/statement.ts';
import type { BalanceTransaction } from './store/balance-transactions.ts';
import {
  type AssetCardRow,
  type AssetRow,
  type BalanceRow,
  type FiatRateRow,
  storedRate,
} from './store/quotes.ts';
import type { SuspenseItem } from './store/suspense.ts';

const noRate = 0n as Rate;

/** None before the first quote. */
const rateOf = (text: string | null): Rate => (text === null ? noRate : storedRate(text));

const payoutNumber = (id: string): number => Number(id); // eslint-disable-line no-restricted-syntax -- an id below 2^53

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
  const asset = reducedAsset(item.asset);
  return {
    id: item.id,
    status: item.state,
    reason: item.reason,
    amount: formatUnits(item.amount, asset.decimals),
    returning_amount: formatUnits(item.returning, asset.decimals),
    returned_amount: formatUnits(item.returned, asset.decimals),
    asset,
    invoice_id: item.invoice,
    tx_hash: item.txHash,
    payout_id: item.payout === null ? null : payoutNumber(item.payout),
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

/** A movement of an available balance, and what it was worth in a currency then. */
export const balanceTransactionView = (currency: Currency) => (transaction: BalanceTransaction) => {
  const { op, kind, net, usdRate, currencyRate, refunded } = transaction;
  const asset = reducedAsset(transaction.asset);
  const { amount, fee } = partsOf(transaction, net, transaction.networkFee);
  const show = (value: Units) => formatUnits(value, asset.decimals);
  const rate = usdRate === null ? null : storedRate(usdRate);
  const fiatRate = currencyRate === null ? null : storedRate(currencyRate);
  const worth = (fiat: Rate | null) => rate && fiat && worthOfUnits(net, rate, fiat, asset.decimals);
  const value = worth(fiatRate);
  const dollars = worth(ONE_DOLLAR);
  const source = sourceOf(kind, op, transaction.invoice, refunded);
  const payout = payoutOf(kind, op);
  return {
    id: transactionIdOf(op),
    type: typeOf({ ...transaction, isRefund: refunded !== null }),
    asset,
    amount: show(amount),
    fee: show(fee),
    net: show(net),
    balance_after: show(transaction.balanceAfter),
    usd_rate: rate && formatRate(rate),
    usd_value: dollars === null ? null : formatCents(dollars),
    currency,
    currency_usd_rate: fiatRate && formatRate(fiatRate),
    value: value === null ? null : formatCents(value),
    source: source.type === 'payout' ? { ...source, id: payoutNumber(source.id) } : source,
    payout_id: payout === null ? null : payoutNumber(payout),
    created_at: transaction.createdAt.toISOString(),
  };
};

/** Longer than any transaction that books. */
const COMMITTED_WITHIN_MS = 60_000;

export type StatementView = ReturnType<typeof statementView>;

/** The statement of an asset and month; `now` tells whether the month is over. */
export function statementView(
  { asset: symbol, currency }: { asset: AssetSymbol; currency: Currency },
  { name, from, to }: Month,
  statement: MonthStatement,
  now: Date,
) {
  const asset = reducedAsset(symbol);
  const show = (value: Units) => formatUnits(value, asset.decimals);
  const shown = ({ count, amount, fee, net, value, withoutValue }: MonthStatement['total']) => ({
    count,
    amount: show(amount),
    fee: show(fee),
    net: show(net),
    value: formatCents(value),
    without_value: withoutValue,
  });
  return {
    month: name,
    asset,
    currency,
    from: from.toISOString(),
    to: to.toISOString(),
    // What was booked before midnight may be committed a moment after it.
    complete: now.getTime() - to.getTime() >= COMMITTED_WITHIN_MS,
    opening_balance: show(statement.opening),
    entries: statement.lines.map((line) => ({ type: line.type, ...shown(line) })),
    total: shown(statement.total),
    closing_balance: show(statement.closing),
    generated_at: now.toISOString(),
  };
}

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

/** A currency as the other services are told of it. */
export function fiatRateView({ currency, usdRate, sources, spreadBps, asOf }: FiatRateRow): FiatRate {
  return {
    currency,
    usd_rate: formatRate(storedRate(usdRate)),
    sources,
    spread_bps: spreadBps,
    as_of: asOf.toISOString(),
  };
}
