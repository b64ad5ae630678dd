import type { Currency } from './currencies.ts';
import { Unavailable } from './http.ts';
import { ONE_DOLLAR, parseRate, type Rate } from './money.ts';
import type { FiatRate, FiatRateBoard } from './quotes.ts';

/** A currency's rate as it is locked; `stored` is null for US dollars. */
export type LockedFiatRate = { rate: Rate; stored: FiatRate | null };

/** The rate of a currency now; undefined while it is not fresh. */
export function freshFiatRate(
  { fiatRates }: { fiatRates: Pick<FiatRateBoard, 'fresh'> },
  currency: Currency,
): LockedFiatRate | undefined {
  if (currency === 'USD') return { rate: ONE_DOLLAR, stored: null };
  const stored = fiatRates.fresh(currency);
  if (stored === undefined) return undefined;
  const rate = parseRate(stored.usd_rate);
  return rate.ok && rate.value > 0n ? { rate: rate.value, stored } : undefined;
}

/** @param otherwise what the client can do now, such as 'give another currency' */
export const noFiatRate = (currency: Currency, otherwise = 'give another currency'): Unavailable =>
  new Unavailable(
    `there is no fresh rate of ${currency}`,
    `There is no exchange rate of ${currency} at the moment. Send the request again later, or ${otherwise}.`,
  );
