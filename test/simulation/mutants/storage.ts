import type { Db, Trx } from '@quittance/shared/db';
import type { Service } from '@quittance/shared/events';
import type { Design } from '../design.ts';

/** Each statement of a transaction is committed by itself. */
const oneByOne = (db: Db): Db => ({ ...db, transaction: (work) => work(db as unknown as Trx) });

const without = (service: Service, what: string): Design => ({
  name: `no-transaction-in-${service}`,
  what,
  plant({ db }) {
    db[service] = oneByOne;
  },
});

/** How a service writes what belongs together. */
export const storageDesigns: readonly Design[] = [
  without('payouts', 'payouts commits each statement by itself'),
  without('ledger', 'the ledger commits each statement by itself'),
  without('invoices', 'invoices commits each statement by itself'),
];
