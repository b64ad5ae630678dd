import type { ReturnUnresolved } from '@quittance/client';
import { compare, subtract } from '../../parts/decimal.ts';
import { type WhereTo, whereToProblems } from '../../parts/where-to.ts';
import { wholeNumber } from '../../parts/whole-number.ts';

/** What somebody chooses about a return. The names of fields that the API has too are its own. */
export type ReturnChoice = WhereTo & {
  kind: 'all' | 'other';
  amount: string;
  external_id: string;
};

export const firstReturn: ReturnChoice = {
  kind: 'all',
  amount: '',
  to: 'link',
  address: '',
  expires_in_days: 30,
  external_id: '',
};

type Problems = Partial<Record<keyof ReturnChoice, string>>;

/** What is wrong with a choice, by field. `left` is what the funds have, in their asset. */
export function returnProblems(choice: ReturnChoice, left: string): Problems {
  const { kind, amount } = choice;
  const typed = amount.trim();
  const isAmount = /^\d+(?:\.\d+)?$/.test(typed) && compare(typed, '0') > 0;
  return {
    ...(kind === 'other' && !isAmount ? { amount: 'Give an amount of the asset, such as 0.5.' } : {}),
    ...(kind === 'other' && isAmount && compare(typed, left) > 0
      ? { amount: 'This is more than is left.' }
      : {}),
    ...whereToProblems(choice),
  };
}

/** The request of a choice. Without an amount the API takes all that is left then. */
export function returnOf(choice: ReturnChoice): ReturnUnresolved {
  const { kind, amount, to, address, expires_in_days, external_id } = choice;
  return {
    ...(kind === 'other' ? { amount: amount.trim() } : {}),
    ...(to === 'address'
      ? { address: address.trim() }
      : { claim: true, expires_in_days: wholeNumber(expires_in_days) }),
    ...(external_id.trim() === '' ? {} : { external_id: external_id.trim() }),
  };
}

/** What the recipient gets of a return: less the network fee. Undefined when the fee takes all of it. */
export function receivedOf(taken: string, fee: string): string | undefined {
  const received = subtract(taken, fee);
  return compare(received, '0') > 0 ? received : undefined;
}
