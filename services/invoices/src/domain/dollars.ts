import { type Cents, cents, parseCents } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';

const CENTS = 100n;
const MIN = 5n;
/** A limit that keeps every amount far below the limits of its column. */
const MAX = 1_000_000_000_000n;
const DECIMALS = 2;

export type Problem = { rule: 'atLeast' | 'atMost'; limit: string } | { rule: 'decimals'; places: number };

/** Parses the amount of an invoice from decimal text, and lists its problems. */
export function readDollars(text: string): { amount: Cents; problems: Problem[] } {
  const parsed = parseCents(text);
  if (parsed.ok) return { amount: parsed.value, problems: limits(parsed.value) };
  switch (parsed.refusal) {
    case 'too_many_decimals': {
      // The whole dollars still show whether it is within the limits.
      const whole = readDollars(text.split('.')[0] ?? '');
      return { ...whole, problems: [...whole.problems, { rule: 'decimals', places: DECIMALS }] };
    }
    case 'too_large':
    case 'not_a_number': {
      const beyond = cents((text.startsWith('-') ? -1n : 1n) * (MAX + 1n) * CENTS);
      return { amount: beyond, problems: limits(beyond) };
    }
    default:
      return assertNever(parsed.refusal);
  }
}

function limits(amount: Cents): Problem[] {
  if (amount < MIN * CENTS) return [{ rule: 'atLeast', limit: String(MIN) }];
  if (amount > MAX * CENTS) return [{ rule: 'atMost', limit: String(MAX) }];
  return [];
}
