import { type Currency, currencies } from '@quittance/shared/currencies';
import { type Cents, cents, formatCents, parseFiat, type Rate, usdToFiat } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';

/** The limits of an invoice in US dollars. The second keeps every amount far below the limits of its column. */
const MIN = cents(500n);
const MAX = cents(100_000_000_000_000n);

/** What a price in a currency may be. */
export type PriceLimits = {
  currency: Currency;
  /** Null while the currency's rate is not known: then they cannot be checked. */
  amounts: { min: Cents; max: Cents } | null;
};

/**
 * The least and the greatest amount in a currency: those in US dollars at its rate, rounded up to its smallest unit.
 * @param rate undefined: it is not known
 */
export function priceLimits(currency: Currency, rate: Rate | undefined): PriceLimits {
  const convert = (usd: Cents, of: Rate) => usdToFiat(usd, of, currencies[currency].decimals, 'up');
  return {
    currency,
    amounts: rate === undefined ? null : { min: convert(MIN, rate), max: convert(MAX, rate) },
  };
}

export type Problem = { rule: 'atLeast' | 'atMost'; limit: string } | { rule: 'decimals'; places: number };

/** Parses the amount of an invoice from decimal text, in hundredths of its currency, and lists its problems. */
export function readPrice(text: string, limits: PriceLimits): { amount: Cents; problems: Problem[] } {
  const { decimals } = currencies[limits.currency];
  const parsed = parseFiat(text, decimals);
  if (parsed.ok) return { amount: parsed.value, problems: beyond(parsed.value, limits) };
  switch (parsed.refusal) {
    case 'too_many_decimals': {
      // The whole units still show whether it is within the limits.
      const whole = readPrice(text.split('.')[0] ?? '', limits);
      return { ...whole, problems: [...whole.problems, { rule: 'decimals', places: decimals }] };
    }
    case 'too_large':
    case 'not_a_number': {
      const far = cents((text.startsWith('-') ? -1n : 1n) * ((limits.amounts?.max ?? MAX) + 1n));
      return { amount: far, problems: beyond(far, limits) };
    }
    default:
      return assertNever(parsed.refusal);
  }
}

function beyond(amount: Cents, { amounts }: PriceLimits): Problem[] {
  if (amounts === null) return [];
  if (amount < amounts.min) return [{ rule: 'atLeast', limit: formatCents(amounts.min) }];
  if (amount > amounts.max) return [{ rule: 'atMost', limit: formatCents(amounts.max) }];
  return [];
}
