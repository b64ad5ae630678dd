import { assets } from '@quittance/shared/assets';
import { formPart } from '@quittance/shared/form';
import { type Answer, answers } from '@quittance/shared/http-answers';
import { formatUnits, type Units, units } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, messages, rules } from '@quittance/shared/validation';
import { amountWithin, leastAmount } from './amount-within.ts';
import type { UnresolvedDeposit } from './store/unswept-deposits.ts';

/** How much a return takes of a deposit, with the network fee; `requested` as the merchant wrote it, or `deposit`. */
export type ReturnedPart = { takes: Units; requested: string };

export const readAmount = formPart({ amount: rules.number().optional });

/**
 * Reads the `amount` of a return: a part in the asset of the deposit, and without it all that is free.
 * @param free what is left of the deposit for this return
 */
export function readReturnedPart(
  body: unknown,
  { asset, amount }: Pick<UnresolvedDeposit, 'asset' | 'amount'>,
  free: Units,
): Result<ReturnedPart, FieldErrors> {
  const given = readAmount(body);
  if (!given.ok) return given;
  const text = given.value.amount;
  // Where nothing is left, the other fields are checked with all of it.
  if (text === null) return ok({ takes: free > 0n ? free : amount, requested: 'deposit' });
  const read = amountWithin(text, assets[asset].decimals, units(1n));
  return read.ok ? ok({ takes: read.value, requested: text }) : refuse({ amount: read.refusal });
}

/** The error when the rest of a return after its network fee would be too little to be sent; none when it is enough. */
export function lessThanFee(
  { asset, amount }: Pick<UnresolvedDeposit, 'asset' | 'amount'>,
  { network_fee: fee, dust }: Pick<Quote, 'network_fee' | 'dust'>,
): FieldErrors {
  const least = units(units(fee) + leastAmount(units(dust)));
  if (amount >= least) return {};
  const hint = 'What was received does not cover the network fee: accept it into the balance instead.';
  return { amount: [messages.atLeast('amount', formatUnits(least, assets[asset].decimals), hint)] };
}

/** The answer when a deposit has too little left for a return. */
export function tooLittleLeft(
  { asset }: Pick<UnresolvedDeposit, 'asset'>,
  free: Units,
  { takes }: ReturnedPart,
): Answer | undefined {
  if (free <= 0n) return answers.alreadyResolved('returned');
  if (takes <= free) return undefined;
  return answers.refundTooLarge(`At most ${formatUnits(free, assets[asset].decimals)} is left.`);
}
