import type { CreateRefund, PayableInvoice } from '@quittance/client';
import { compare } from '../../parts/decimal.ts';
import { type WhereTo, whereToProblems } from '../../parts/where-to.ts';
import { wholeNumber } from '../../parts/whole-number.ts';
import { isFiatAmount, type Refundable, shareOf } from './refund-amount.ts';

/** What somebody chooses about a refund. The names of fields that the API has too are its own. */
export type RefundChoice = WhereTo & {
  kind: 'all' | 'surplus' | 'other';
  amount: string;
  rate: 'then' | 'now';
  external_id: string;
};

/** What more was paid than due is refunded most often, where there is some. */
export const firstRefund = ({ surplus }: Refundable): RefundChoice => ({
  kind: surplus === '0' ? 'all' : 'surplus',
  amount: '',
  rate: 'then',
  to: 'link',
  address: '',
  expires_in_days: 30,
  external_id: '',
});

/** What is wrong with a choice, by field. The API checks all of it too. */
export function problemsOf(
  choice: RefundChoice,
  invoice: PayableInvoice,
  { left }: Refundable,
): Partial<Record<keyof RefundChoice, string>> {
  const { kind, amount, rate } = choice;
  const problems: Partial<Record<keyof RefundChoice, string>> = whereToProblems(choice);
  if (kind === 'other') {
    if (!isFiatAmount(amount.trim()))
      problems.amount = 'Give an amount with at most two decimals, such as 25.00.';
    else if (rate === 'then' && compare(shareOf(amount.trim(), invoice), left) > 0)
      problems.amount = 'This is more than is left.';
  }
  return problems;
}

/** The request of a choice. */
export function refundOf(choice: RefundChoice): CreateRefund {
  const { kind, amount, rate, to, address, expires_in_days, external_id } = choice;
  return {
    amount: kind === 'other' ? amount.trim() : kind,
    ...(rate === 'then' ? {} : { rate }),
    ...(to === 'address' ? { address: address.trim() } : { expires_in_days: wholeNumber(expires_in_days) }),
    ...(external_id.trim() === '' ? {} : { external_id: external_id.trim() }),
  };
}
