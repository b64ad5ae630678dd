import { type Cents, cents, parseCents } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';

const CENTS = 100n;
const MIN = 5n;
/** Nobody asks for more in one invoice; it keeps every amount far from the limits of its column. */
const MAX = 1_000_000_000_000n;
const DECIMALS = 2;

export type Problem =
  | { rule: 'atLeast'; limit: string }
  | { rule: 'atMost'; limit: string }
  | { rule: 'decimals'; places: number };

/** What an invoice asks for, from plain decimal text, and all that is wrong with it. */
export function readDollars(text: string): { amount: Cents; problems: Problem[] } {
  const parsed = parseCents(text);
  if (parsed.ok) return { amount: parsed.value, problems: limits(parsed.value) };
  switch (parsed.refusal) {
    case 'too_many_decimals': {
      // Its whole dollars tell its size all the same.
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
