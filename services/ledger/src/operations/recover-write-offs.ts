import type { Trx } from '@quittance/shared/db';
import { recoveryPosting } from '../domain/posting.ts';
import { remainderOf } from '../domain/suspense.ts';
import type { Ports } from '../ports.ts';
import {
  type CreditedPayment,
  recoverableDeposits,
  reduceWriteOff,
  takeFromOpen,
} from '../store/reversals.ts';
import { book } from '../store/transfers.ts';

/**
 * A payment that was reversed after its money was spent, and is mined again, is a new deposit. Its money was spent
 * already, so it reduces the write-off first, as far as it is there. Balances are locked.
 * @param cause the event that brought write-off and money together; each is booked once.
 */
export async function recoverWriteOffs(
  trx: Trx,
  payment: CreditedPayment,
  cause: `${'settled' | 'reversed' | 'freed'}:${string}`,
  { logger }: Pick<Ports, 'logger'>,
): Promise<void> {
  const { length } = await recoverableDeposits(trx, payment);
  // Read again for each: how much the second can give depends on what the first has given.
  for (let i = 0; i < length; i++) {
    const deposit = (await recoverableDeposits(trx, payment))[i];
    if (deposit === undefined) continue;
    const { id, account, asset, state, left, writtenOff, available } = deposit;
    const { bucket, amount: there } = remainderOf(deposit, available);
    let taken = deposit.amount;
    if (writtenOff < taken) taken = writtenOff;
    if (there < taken) taken = there;
    if (taken === 0n) continue;
    const booked = await book(trx, [recoveryPosting(deposit, bucket, taken, cause)]);
    if (booked.size === 0) continue;
    await reduceWriteOff(trx, payment, taken);
    if (state === 'open') await takeFromOpen(trx, id, payment, { taken, isAll: taken === left });
    logger.warn(
      { deposit: id, account, asset, amount: taken.toString() },
      'a payment that was reversed when it was spent is in the chain again: its write-off is recovered',
    );
  }
}
