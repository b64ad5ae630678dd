import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import type { DepositId } from '@quittance/shared/ids';
import { invariant } from '@quittance/shared/result';
import { reversalPosting, writtenOffBy } from '../domain/posting.ts';
import { remainderOf } from '../domain/suspense.ts';
import type { Ports } from '../ports.ts';
import { lockBalances } from '../store/balances.ts';
import { markReversalsBooked, unbookedReversals } from '../store/reversals.ts';
import { markSuspenseReversed } from '../store/suspense.ts';
import { book } from '../store/transfers.ts';
import { keepPayments, openWriteOff } from '../store/write-offs.ts';
import { recoverWriteOffs } from './recover-write-offs.ts';

/**
 * Books the reversals of these deposits, as far as the deposits are booked. Their balances are locked.
 * @returns how many were booked, and the deposits whose reversals have other contents: those are not booked
 */
export async function bookReversals(
  trx: Trx,
  ids: readonly DepositId[],
  ports: Pick<Ports, 'logger'>,
): Promise<{ booked: number; strange: DepositId[] }> {
  const unbooked = ids.length === 0 ? [] : await unbookedReversals(trx, ids);
  const reversals = unbooked.filter(({ agrees }) => agrees);
  const strange = unbooked.filter(({ agrees }) => !agrees).map(({ deposit }) => deposit.id);
  for (const deposit of strange)
    ports.logger.error(
      { alarm: true, deposit },
      'a deposit was reversed with other contents than it was booked with',
    );
  if (reversals.length === 0) return { booked: 0, strange };
  // One by one: how much the second can take back depends on what the first leaves.
  for (const { deposit, outpoint, unresolved } of reversals) {
    const [balance] = await lockBalances(trx, [deposit]);
    invariant(balance !== undefined, 'a locked balance is there');
    const { bucket, amount } = remainderOf(unresolved, balance.available);
    const posting = reversalPosting(deposit, bucket, amount);
    await book(trx, [posting]);
    failpoint('ledger.reversal_booked');
    const writtenOff = writtenOffBy(posting);
    if (outpoint !== null) {
      const payment = { ...deposit, outpoint };
      await keepPayments(trx, [payment]);
      if (writtenOff > 0n) await openWriteOff(trx, payment, writtenOff);
    }
    const line = { alarm: true, deposit: deposit.id, account: deposit.account, asset: deposit.asset };
    ports.logger.error(
      { ...line, amount: deposit.amount.toString(), written_off: writtenOff.toString() },
      writtenOff > 0n
        ? 'a credited deposit was reversed and part of it is spent: the rest is written off'
        : 'a credited deposit was reversed and taken back in full',
    );
  }
  const booked = reversals.map(({ deposit }) => deposit.id);
  await markReversalsBooked(trx, booked);
  await markSuspenseReversed(trx, booked);
  // The same payment may be booked as another deposit already, if that event arrived first.
  for (const { deposit, outpoint } of reversals) {
    if (outpoint !== null)
      await recoverWriteOffs(trx, [{ ...deposit, outpoint }], `reversed:${deposit.id}`, ports);
  }
  return { booked: reversals.length, strange };
}
