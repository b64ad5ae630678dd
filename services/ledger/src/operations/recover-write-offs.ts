import type { Trx } from '@quittance/shared/db';
import { recoveryPosting } from '../domain/posting.ts';
import { remainderOf } from '../domain/suspense.ts';
import type { Ports } from '../ports.ts';
import { book } from '../store/transfers.ts';
import {
  type CreditedPayment,
  recoverableDeposits,
  reduceWriteOff,
  takeFromOpen,
} from '../store/write-offs.ts';

/**
 * A payment that was reversed after its money was spent, and is mined again, is a new deposit. Its money was spent
 * already, so it reduces the write-off first, as far as it is there. Balances are locked.
 * @param cause the event that brought write-off and money together; each is booked once.
 */
export async function recoverWriteOffs(
  trx: Trx,
  payments: readonly CreditedPayment[],
  cause: `${'settled' | 'reversed' | 'freed'}:${string}`,
  { logger }: Pick<Ports, 'logger'>,
): Promise<void> {
  for (const payment of payments) {
    const { length } = await recoverableDeposits(trx, payment);
    // Read again for each: how much the second can give depends on what the first has given.
    for (let i = 0; i < length; i++) {
      const recoverable = (await recoverableDeposits(trx, payment))[i];
      if (recoverable === undefined) continue;
      const { deposit, writtenOff, available, unresolved } = recoverable;
      const { bucket, amount: there } = remainderOf(unresolved, available);
      let taken = deposit.amount;
      if (writtenOff < taken) taken = writtenOff;
      if (there < taken) taken = there;
      if (taken === 0n) continue;
      const booked = await book(trx, [recoveryPosting(deposit, bucket, taken, cause)]);
      if (booked.size === 0) continue;
      await reduceWriteOff(trx, payment, taken);
      if (unresolved?.state === 'open') {
        await takeFromOpen(trx, deposit.id, payment, { taken, isAll: taken === unresolved.amount });
      }
      logger.warn(
        { deposit: deposit.id, account: deposit.account, asset: deposit.asset, amount: taken.toString() },
        'a payment that was reversed when it was spent is in the chain again: its write-off is recovered',
      );
    }
  }
}
