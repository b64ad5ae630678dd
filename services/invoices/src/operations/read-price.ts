import { type Currency, currencyCodes } from '@quittance/shared/currencies';
import type { RequestBody } from '@quittance/shared/exact-json';
import { formPart } from '@quittance/shared/form';
import type { Cents, Rate } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import {
  attributeOf,
  type FieldErrors,
  type FieldProblem,
  messages,
  rules,
} from '@quittance/shared/validation';
import { type Problem, priceLimits, readPrice } from '../domain/price.ts';

export const currencyForm = formPart({ currency: rules.oneOf(currencyCodes).optional });

/** Reads `currency`; `usual` is that of a request that gives none. */
export function readCurrency(body: RequestBody, usual: Currency): Result<Currency, FieldErrors> {
  const given = currencyForm(body);
  return given.ok ? ok(given.value.currency ?? usual) : given;
}

/**
 * Reads the number of a field as a price in a currency, with its decimals and within the limits of an invoice.
 * @param rate undefined: it is not known, and the limits are not checked
 */
export function readPriceField(
  name: string,
  text: string,
  { currency, rate }: { currency: Currency; rate: Rate | undefined },
): Result<Cents, FieldErrors> {
  const { amount, problems } = readPrice(text, priceLimits(currency, rate));
  return problems.length === 0
    ? ok(amount)
    : refuse({ [name]: problems.map((problem) => said(attributeOf(name), problem, currency)) });
}

function said(attribute: string, problem: Problem, currency: Currency): FieldProblem {
  if (problem.rule === 'decimals') return messages.decimals(attribute, problem.places);
  const { rule, limit } = problem;
  const named = currency === 'USD' ? 'US dollars' : currency;
  const side = rule === 'atLeast' ? 'more' : 'less';
  return messages[rule](attribute, limit, `The amount is in ${named}: give ${limit} or ${side}.`);
}
