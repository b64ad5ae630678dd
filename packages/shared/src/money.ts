import { Decimal } from 'decimal.js';
import type { Brand } from './ids.ts';
import { invariant, ok, type Result, refuse } from './result.ts';

/** An amount in the smallest unit of its asset (wei, satoshi, lamport, a millionth of a USDC). */
export type Units = Brand<bigint, 'Units'>;
/** US dollars as whole cents; an amount of another currency in hundredths too. */
export type Cents = Brand<bigint, 'Cents'>;
/** US dollars for one whole asset or one unit of a currency, as an integer of 10^-18 dollars. */
export type Rate = Brand<bigint, 'Rate'>;

const RATE_DECIMALS = 18;
/** The rate of the dollar itself. */
export const ONE_DOLLAR = (10n ** 18n) as Rate;
const CENT_DECIMALS = 2;
/** numeric(78,0) in Postgres, and 2^256 on an EVM chain: no amount is longer. */
const AMOUNT_DIGITS_MAX = 78;
/** The amount a customer is asked for has at most as many decimals as wallets let people type. */
export const DUE_DECIMALS_MAX = 8;

export const units = (value: bigint | string): Units => BigInt(value) as Units;
export const cents = (value: bigint | string): Cents => BigInt(value) as Cents;

type Malformed = 'not_a_number' | 'too_many_decimals' | 'too_large';

const plain = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Reads a decimal text such as "1.25" as an integer of 10^-decimals. Nothing is ever rounded: a digit
 * that does not fit is a refusal. Trailing zeros after the last decimal are not digits of the amount.
 */
function parseFixed(text: string, decimals: number): Result<bigint, Malformed> {
  const match = plain.exec(text);
  if (!match) return refuse('not_a_number');
  const [, sign = '', whole = '', allFraction = ''] = match;
  const fraction = allFraction.replace(/0+$/, '');
  if (fraction.length > decimals) return refuse('too_many_decimals');
  const digits = (whole + fraction.padEnd(decimals, '0')).replace(/^0+(?=\d)/, '');
  if (digits.length > AMOUNT_DIGITS_MAX) return refuse('too_large');
  return ok(sign === '-' ? -BigInt(digits) : BigInt(digits));
}

/** The decimal text of an integer of 10^-decimals: no exponent, no trailing zeros, "0" for zero. */
function formatFixed(value: bigint, decimals: number): string {
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Asset amount from text, exact or refused. `decimals` is the asset's. */
export const parseUnits = (text: string, decimals: number): Result<Units, Malformed> =>
  parseFixed(text, decimals) as Result<Units, Malformed>;

/** Asset amount to text. `decimals` is the asset's. */
export const formatUnits = (value: Units, decimals: number): string => formatFixed(value, decimals);

/** Dollars from text, exact to the cent or refused. */
export const parseCents = (text: string): Result<Cents, Malformed> =>
  parseFixed(text, CENT_DECIMALS) as Result<Cents, Malformed>;

/** An amount of a currency from text, exact to its own `decimals` (0 to 2) or refused; in hundredths. */
export function parseFiat(text: string, decimals: number): Result<Cents, Malformed> {
  const parsed = parseFixed(text, decimals);
  return parsed.ok ? ok((parsed.value * smallestUnit(decimals)) as Cents) : parsed;
}

/** The smallest unit of a currency with so many decimals, in hundredths. */
export const smallestUnit = (decimals: number): Cents => (10n ** BigInt(CENT_DECIMALS - decimals)) as Cents;

/** An amount with exactly two decimals: the form of `amount_fiat`. */
export function formatFiat(value: Cents): string {
  const [whole, fraction = ''] = formatFixed(value, CENT_DECIMALS).split('.');
  return `${whole}.${fraction.padEnd(CENT_DECIMALS, '0')}`;
}

/** A rate from text of at most 18 decimals, as a price table or our own database holds it. */
export const parseRate = (text: string): Result<Rate, Malformed> =>
  parseFixed(text, RATE_DECIMALS) as Result<Rate, Malformed>;

export const formatRate = (rate: Rate): string => formatFixed(rate, RATE_DECIMALS);

/** Enough digits for any product or quotient of ours; never an exponent in the text. */
const Exact = Decimal.clone({
  precision: 160,
  toExpNeg: -9e15,
  toExpPos: 9e15,
  rounding: Decimal.ROUND_HALF_EVEN,
});

/**
 * The plain decimal text of a JSON number's source text ("1e3" is "1000", "-0" is "0"), or undefined
 * when it is no number or has more digits than any amount: nothing is lost on the way.
 */
export function plainDecimal(source: string): string | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?([eE][+-]?\d+)?$/.exec(source);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = ''] = match;
  // Zeros that say nothing make no number longer.
  const said = `${sign}${whole.replace(/^0+(?=\d)/, '')}.${withoutLastZeros(fraction)}0${exponent}`;
  if (said.length > 200) return undefined;
  const value = new Exact(said);
  // Beyond the exponents of the library it is Infinity, or a zero that has digits.
  if (value.isZero()) return /[1-9]/.test(whole + fraction) ? undefined : '0';
  if (!value.isFinite() || value.e > AMOUNT_DIGITS_MAX || value.e < -AMOUNT_DIGITS_MAX) return undefined;
  const text = value.toFixed();
  return text.length > 2 * AMOUNT_DIGITS_MAX ? undefined : text;
}

/** Not by /0+$/, which is slow on a long text of zeros that does not end with one. */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/**
 * A price as a public source prints it (a number or a text, maybe with an exponent), rounded half to even
 * at 18 decimals; undefined when it is not a positive number.
 */
export function rateFromSource(price: string | number): Rate | undefined {
  const text = typeof price === 'number' ? String(price) : price;
  if (plainDecimal(text) === undefined) return undefined;
  const rounded = parseRate(new Exact(text).toFixed(RATE_DECIMALS));
  return rounded.ok && rounded.value > 0n ? rounded.value : undefined;
}

/**
 * The rate of a currency of which a dollar costs `price`, to 18 decimals, a half rounded up; undefined when that is zero.
 */
export function inverseRate(price: Rate): Rate | undefined {
  invariant(price > 0n, 'a price is positive');
  const inverse = (2n * ONE_DOLLAR * ONE_DOLLAR + price) / (2n * price);
  return inverse > 0n ? (inverse as Rate) : undefined;
}

/** The middle of the rates; of an even number, the mean of the middle two. */
export function medianRate(rates: readonly Rate[]): Rate {
  invariant(rates.length > 0, 'a median needs a rate');
  const sorted = [...rates].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as Rate;
  if (sorted.length % 2 === 1) return upper;
  return (((sorted[middle - 1] as Rate) + upper) / 2n) as Rate;
}

/** How far the rates lie apart, in basis points of the lowest, rounded up. */
export function spreadBasisPoints(rates: readonly Rate[]): bigint {
  invariant(rates.length > 0, 'a spread needs a rate');
  let low = rates[0] as Rate;
  let high = low;
  for (const rate of rates) {
    if (rate < low) low = rate;
    if (rate > high) high = rate;
  }
  return ceilDivide((high - low) * 10_000n, low);
}

/**
 * The asset amount due for `amount` hundredths of a currency, at min(asset decimals, 8) places. Both rates are exact, and it
 * is rounded once: up, so that the merchant is never short and a wallet can type it.
 * @param fiatRate of the currency, ONE_DOLLAR for US dollars
 * @param rate of the asset
 */
export function fiatToUnits(
  amount: Cents,
  fiatRate: Rate,
  rate: Rate,
  decimals: number,
  rounding: 'up',
): Units {
  invariant(
    rounding === 'up' && fiatRate > 0n && rate > 0n && amount >= 0n,
    'an amount due needs positive rates',
  );
  const places = Math.min(decimals, DUE_DECIMALS_MAX);
  const scaled = amount * fiatRate * 10n ** BigInt(places);
  const due = ceilDivide(scaled, rate * 10n ** BigInt(CENT_DECIMALS));
  return (due * 10n ** BigInt(decimals - places)) as Units;
}

/** What `usd` is in a currency of this rate, rounded up to the smallest unit of its `decimals` (0 to 2); in hundredths. */
export function usdToFiat(usd: Cents, fiatRate: Rate, decimals: number, rounding: 'up'): Cents {
  invariant(rounding === 'up' && fiatRate > 0n && usd >= 0n, 'a conversion needs a positive rate');
  const unit = smallestUnit(decimals);
  return (ceilDivide(usd * ONE_DOLLAR, fiatRate * unit) * unit) as Cents;
}

/** What `amount` of an asset is worth in a currency, rounded up to the smallest unit of its `decimals`; in hundredths. */
export function unitsToFiat(
  amount: Units,
  { rate, decimals }: Priced,
  currency: { rate: Rate; decimals: number },
  rounding: 'up',
): Cents {
  invariant(rounding === 'up' && currency.rate > 0n && amount >= 0n, 'a conversion needs a positive rate');
  const unit = smallestUnit(currency.decimals);
  const worth = amount * rate * 10n ** BigInt(CENT_DECIMALS);
  return (ceilDivide(worth, 10n ** BigInt(decimals) * currency.rate * unit) * unit) as Cents;
}

/** What `amount` is worth, rounded down to the cent. */
export function unitsToUsd(amount: Units, rate: Rate, decimals: number, rounding: 'down'): Cents {
  invariant(rounding === 'down' && amount >= 0n, 'only what is there has a worth');
  return ((amount * rate) / 10n ** BigInt(decimals + RATE_DECIMALS - CENT_DECIMALS)) as Cents;
}

/**
 * What a movement is worth in a currency, rounded towards zero, so that a payment and its reversal are worth the same; in
 * hundredths. `fiatRate` is that of the currency, in dollars.
 */
export function worthOfUnits(amount: Units, rate: Rate, fiatRate: Rate, decimals: number): Cents {
  invariant(fiatRate > 0n, 'a conversion needs a positive rate');
  return ((amount * rate * 100n) / (fiatRate * 10n ** BigInt(decimals))) as Cents;
}

/** An amount without trailing zeros: the form of `usd_value`. */
export const formatCents = (value: Cents): string => formatFixed(value, CENT_DECIMALS);

/** `amount` less `percent` hundredths of a percent (basis points), rounded up: the least that counts as paid. */
export function lessTolerance(amount: Units, basisPoints: number): Units {
  return ceilDivide(amount * BigInt(10_000 - basisPoints), 10_000n) as Units;
}

/** `percent` of `amount`, rounded up. */
export const percentUp = (amount: Units, percent: bigint): Units =>
  ceilDivide(amount * percent, 100n) as Units;

/** The next amount that has at most `digits` digits other than zeros at its end. */
export function roundUpToDigits(amount: Units, digits: number): Units {
  const step = 10n ** BigInt(Math.max(0, amount.toString().length - digits));
  return (ceilDivide(amount, step) * step) as Units;
}

/** An asset's rate in dollars, and the digits of one whole of it. */
export type Priced = { rate: Rate; decimals: number };

/** What `amount` of one asset is worth in another. */
export function convertUnits(amount: Units, from: Priced, to: Priced, rounding: 'up'): Units {
  invariant(rounding === 'up' && to.rate > 0n && amount >= 0n, 'what is converted needs a positive rate');
  const worth = amount * from.rate * 10n ** BigInt(to.decimals);
  const divisor = to.rate * 10n ** BigInt(from.decimals);
  return ceilDivide(worth, divisor) as Units;
}

/**
 * The asset amount that `fiat` is worth, rounded down to a whole unit.
 * @param fiatRate US dollars for one unit of the currency; `ONE_DOLLAR` for dollars
 */
export function unitsOfFiat(
  fiat: Cents,
  fiatRate: Rate,
  { rate, decimals }: Priced,
  rounding: 'down',
): Units {
  invariant(rounding === 'down' && rate > 0n && fiat >= 0n, 'what is converted needs a positive rate');
  return ((fiat * fiatRate * 10n ** BigInt(decimals)) / (rate * 10n ** BigInt(CENT_DECIMALS))) as Units;
}

/** Rates at one time: US dollars for one whole asset, and for one unit of a currency (`ONE_DOLLAR` for dollars). */
export type RatePair = { rate: Rate; fiatRate: Rate };

/** How much of an asset is worth now in a currency what `amount` of it was worth then, rounded down to a whole unit. */
export function unitsOfSameValue(amount: Units, then: RatePair, now: RatePair, rounding: 'down'): Units {
  const divisor = then.fiatRate * now.rate;
  invariant(rounding === 'down' && divisor > 0n && amount >= 0n, 'what is converted needs positive rates');
  return ((amount * then.rate * now.fiatRate) / divisor) as Units;
}

export const sum = (amounts: Iterable<Units>): Units => {
  let total = 0n;
  for (const amount of amounts) total += amount;
  return total as Units;
};

function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
