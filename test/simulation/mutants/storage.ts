import type { Db, Trx } from '@quittance/shared/db';
import type { Service } from '@quittance/shared/events';
import type { Mutant } from '../mutant.ts';

/** Each statement of a transaction is committed by itself. */
const oneByOne = (db: Db): Db => ({ ...db, transaction: (work) => work(db as unknown as Trx) });

const without = (service: Service, what: string, shows: RegExp): Mutant => ({
  name: `no-transaction-in-${service}`,
  what,
  shows,
  apply({ db }) {
    db[service] = oneByOne;
  },
});

/** How a service writes what belongs together. */
export const storageMutants: readonly Mutant[] = [
  without(
    'payouts',
    'payouts commits each statement by itself',
    /^paid|does not have it|whom nobody was to pay/,
  ),
  without('ledger', 'the ledger commits each statement by itself', /^I[1-4]/),
  without(
    'invoices',
    'invoices commits each statement by itself',
    /is credited 0 times|the payment \S+ is not known/,
  ),
];
