/* Amounts are decimal texts, and are never floating-point numbers here either. */

/** A decimal text as a whole number of its smallest part. */
type Scaled = { units: bigint; decimals: number };

function scaled(text: string): Scaled {
  const found = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (found === null) throw new TypeError(`${JSON.stringify(text)} is no decimal`);
  const [, sign = '', whole = '', fraction = ''] = found;
  return { units: BigInt(sign + whole + fraction), decimals: fraction.length };
}

function textOf({ units, decimals }: Scaled): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

function aligned(a: string, b: string): { a: bigint; b: bigint; decimals: number } {
  const [one, other] = [scaled(a), scaled(b)];
  const decimals = Math.max(one.decimals, other.decimals);
  const raise = ({ units, decimals: own }: Scaled) => units * 10n ** BigInt(decimals - own);
  return { a: raise(one), b: raise(other), decimals };
}

/** @throws TypeError when a text is no decimal */
export function add(first: string, second: string): string {
  const { a, b, decimals } = aligned(first, second);
  return textOf({ units: a + b, decimals });
}

/** @throws TypeError when a text is no decimal */
export function subtract(first: string, second: string): string {
  const { a, b, decimals } = aligned(first, second);
  return textOf({ units: a - b, decimals });
}

/** @throws TypeError when a text is no decimal */
export function multiply(first: string, second: string): string {
  const [a, b] = [scaled(first), scaled(second)];
  return textOf({ units: a.units * b.units, decimals: a.decimals + b.decimals });
}

/**
 * The quotient of two amounts that are not negative, rounded down to so many decimals.
 * @throws TypeError when a text is no decimal; RangeError when the divisor is zero
 */
export function divideDown(dividend: string, divisor: string, decimals: number): string {
  const { a, b } = aligned(dividend, divisor);
  return textOf({ units: (a * 10n ** BigInt(decimals)) / b, decimals });
}

/** Negative, zero or positive, as `Array.sort` wants it. @throws TypeError when a text is no decimal */
export function compare(first: string, second: string): number {
  const { a, b } = aligned(first, second);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** @throws TypeError when a text is no decimal */
export const sum = (amounts: readonly string[]): string => amounts.reduce(add, '0');

/** With separators of thousands, and all of its digits: `1,234.000001`. */
export function grouped(amount: string): string {
  const [whole = '', fraction] = amount.split('.');
  const shown = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? shown : `${shown}.${fraction}`;
}
