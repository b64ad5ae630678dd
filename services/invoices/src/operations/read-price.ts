import { type Currency, currencyCodes } from '@quittance/shared/currencies';
import type { RequestBody } from '@quittance/shared/exact-json';
import { formPart } from '@quittance/shared/form';
import { Unavailable } from '@quittance/shared/http';
import { type Cents, ONE_DOLLAR, parseRate, type Rate } from '@quittance/shared/money';
import type { FiatRate } from '@quittance/shared/quotes';
import { ok, type Result, refuse } from '@quittance/shared/result';
import {
  attributeOf,
  type FieldErrors,
  type FieldProblem,
  messages,
  rules,
} from '@quittance/shared/validation';
import { type Problem, priceLimits, readPrice } from '../domain/price.ts';
import type { Ports } from '../ports.ts';

/** A currency's rate as it is locked; `stored` is null for US dollars. */
export type LockedFiatRate = { rate: Rate; stored: FiatRate | null };

/** The rate of a currency now; undefined while it is not fresh. */
export function freshFiatRate(
  { fiatRates }: Pick<Ports, 'fiatRates'>,
  currency: Currency,
): LockedFiatRate | undefined {
  if (currency === 'USD') return { rate: ONE_DOLLAR, stored: null };
  const stored = fiatRates.fresh(currency);
  if (stored === undefined) return undefined;
  const rate = parseRate(stored.usd_rate);
  return rate.ok && rate.value > 0n ? { rate: rate.value, stored } : undefined;
}

export const noFiatRate = (currency: Currency): Unavailable =>
  new Unavailable(
    `there is no fresh rate of ${currency}`,
    `There is no exchange rate of ${currency} at the moment. Send the request again later, or give another currency.`,
  );

const currencyForm = formPart({ currency: rules.oneOf(currencyCodes).optional });

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
