import type { Ports } from '../ports.ts';
import { lockBalances } from '../store/balances.ts';
import { dueReversals } from '../store/reversals.ts';
import { bookReversals } from './book-reversals.ts';

/**
 * Books one reversal whose deposit is booked already. An earlier release processed a deposit that arrived after its reversal
 * without booking the reversal.
 */
export function catchUpReversals({ db, logger }: Pick<Ports, 'db' | 'logger'>): Promise<number> {
  return db.transaction(async (trx) => {
    const [deposit] = await dueReversals(trx, 1);
    if (deposit === undefined) return 0;
    await lockBalances(trx, [deposit]);
    return (await bookReversals(trx, [deposit.id], { logger })).booked;
  });
}
