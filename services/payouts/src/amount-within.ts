import { formatUnits, parseUnits, type Units, units } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldProblem, messages } from '@quittance/shared/validation';

/** With a fee added it still fits into numeric(78). No asset has so many units. */
const UNITS_MAX = units(10n ** 75n);

/** The least amount that can be sent: one unit where the network has no limit of its own. */
export const leastAmount = (dust: Units): Units => (dust > 0n ? dust : units(1n));

/** The amount, exact, or every limit that it breaks. `text` is plain decimal text. */
export function amountWithin(
  text: string,
  decimals: number,
  dust: Units,
  field = 'amount',
): Result<Units, FieldProblem[]> {
  const broken: FieldProblem[] = [];
  const least = leastAmount(dust);
  // Without the digits that are too many, the amount compares with the limits in the same way.
  const cut = parseUnits(cutAfter(text, decimals), decimals);
  const value = cut.ok ? cut.value : text.startsWith('-') ? -1n : UNITS_MAX + 1n;
  if (value < least) broken.push(messages.atLeast(field, formatUnits(least, decimals)));
  if (value > UNITS_MAX) broken.push(messages.atMost(field, formatUnits(UNITS_MAX, decimals)));
  const exact = parseUnits(text, decimals);
  if (!exact.ok && exact.refusal === 'too_many_decimals') broken.push(messages.decimals(field, decimals));
  return exact.ok && broken.length === 0 ? ok(exact.value) : refuse(broken);
}

function cutAfter(text: string, decimals: number): string {
  const point = text.indexOf('.');
  return point === -1 ? text : text.slice(0, point + 1 + decimals).replace(/\.$/, '');
}
