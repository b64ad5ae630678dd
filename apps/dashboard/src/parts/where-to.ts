import { wholeNumber } from './whole-number.ts';

const DAYS_MAX = 90;

/** Where something is paid back to: an address, or a claim link. */
export type WhereTo = { to: 'link' | 'address'; address: string; expires_in_days: number | string };

/** What is wrong with it, by field. */
export function whereToProblems({
  to,
  address,
  expires_in_days: given,
}: WhereTo): Partial<Record<keyof WhereTo, string>> {
  if (to === 'address') return address.trim() === '' ? { address: 'Give the address of your customer.' } : {};
  const days = wholeNumber(given);
  return days >= 1 && days <= DAYS_MAX
    ? {}
    : { expires_in_days: `Give a number of days from 1 to ${DAYS_MAX}.` };
}
