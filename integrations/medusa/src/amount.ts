import type { MedusaAmount } from './medusa.ts';

/** Decimals of the currencies that Quittance has; of all others two. */
const decimalsOf = (currency: string): number => (currency.toUpperCase() === 'JPY' ? 0 : 2);

/**
 * An amount of Medusa as the API takes it: decimal text with the decimals of its currency, such as `25.00`. Medusa's totals
 * may have more of them, from taxes and discounts: half a cent and more is rounded up, as Medusa shows it.
 * @throws TypeError when it is negative or no number
 */
export function amountText(amount: MedusaAmount, currency: string): string {
  const text = sourceOf(amount);
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) throw new TypeError(`the amount ${text} is not a positive number`);
  const decimals = decimalsOf(currency);
  const kept = BigInt(`${whole}${fraction.padEnd(decimals, '0').slice(0, decimals)}`);
  const roundUp = (fraction[decimals] ?? '0') >= '5';
  const digits = String(roundUp ? kept + 1n : kept).padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Medusa hands on numbers, texts, its own big numbers, those of bignumber.js, and what it stores of them. */
function sourceOf(amount: MedusaAmount): string {
  if (typeof amount === 'string') return amount;
  if (typeof amount === 'number') return plain(amount);
  if ('toFixed' in amount) return amount.toFixed();
  if ('value' in amount) return sourceOf(amount.value);
  return sourceOf(amount.raw?.value ?? amount.numeric ?? Number.NaN);
}

/** Numbers below 1e-6 have an exponent as texts: they round to nothing. */
const plain = (amount: number): string => (amount >= 0 && amount < 1e-6 ? '0' : String(amount));
