import type { Handlers } from '@quittance/shared/consumer';
import { recordDeposits } from './operations/record-deposits.ts';
import { reverseDeposits } from './operations/reverse-deposits.ts';

/** What the treasury learns from the others: which deposits are there to be used. */
export const handlers: Handlers = {
  'deposit.settled': (trx, events) =>
    recordDeposits(
      trx,
      events.map((event) => event.payload),
    ),
  'deposit.reversed': (trx, events) =>
    reverseDeposits(
      trx,
      events.map((event) => event.payload),
    ),
};
