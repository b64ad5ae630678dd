import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { appendToOutbox } from '@quittance/shared/outbox';
import { invariant } from '@quittance/shared/result';
import { depositPosting, reversalPosting, writtenOffBy } from '../domain/posting.ts';
import { remainderOf } from '../domain/suspense.ts';
import type { Ports } from '../ports.ts';
import {
  type CreditedPayment,
  dueReversal,
  keepPayments,
  markReversalsBooked,
  openWriteOff,
  rememberReversals,
  unbookedReversals,
} from '../store/reversals.ts';
import { markSuspenseReversed, openSuspense } from '../store/suspense.ts';
import { book, lockBalances, OtherContents } from '../store/transfers.ts';
import { recoverWriteOffs } from './recover-write-offs.ts';

/**
 * Credits settled deposits, each once, reduces write-offs by what they recover, and appends the events for invoices. Then
 * books the reversals that arrived before their deposits.
 */
export async function recordDeposits(
  trx: Trx,
  events: readonly EventOf<'deposit.settled'>[],
  ports: Pick<Ports, 'logger'>,
): Promise<void> {
  const booked = await book(
    trx,
    events.map(({ payload }) =>
      depositPosting(
        {
          id: payload.deposit_id as DepositId,
          account: payload.account_id as AccountId,
          asset: payload.asset,
          amount: units(payload.amount),
        },
        payload.disposition,
      ),
    ),
  );
  failpoint('ledger.deposits_booked');
  const told = events.filter(({ payload }) => booked.delete(`deposit:${payload.deposit_id as DepositId}`));
  await openSuspense(
    trx,
    told.map(({ payload }) => payload).filter(({ disposition }) => disposition === 'unresolved'),
  );
  const payments = told.map(({ payload: { deposit_id, account_id, invoice_id, asset, outpoint } }) => ({
    id: deposit_id as DepositId,
    account: account_id as AccountId,
    invoice: invoice_id,
    asset,
    outpoint,
  }));
  const writtenOff = await keepPayments(trx, payments);
  for (const payment of payments) {
    const isSame = ({ account, outpoint }: CreditedPayment) =>
      account === payment.account && outpoint === payment.outpoint;
    if (writtenOff.some(isSame)) await recoverWriteOffs(trx, payment, `settled:${payment.id}`, ports);
  }
  await appendToOutbox(
    trx,
    told.map(({ payload: { deposit_id, invoice_id } }) => ({
      kind: 'credit.recorded',
      payload: { deposit_id, invoice_id },
    })),
  );
  const ids = events.map(({ payload }) => payload.deposit_id as DepositId);
  await bookReversals(trx, ids, ports);
}

/** Takes back deposits that the chain took back. One whose deposit is not booked yet waits for it. */
export async function reverseDeposits(
  trx: Trx,
  events: readonly EventOf<'deposit.reversed'>[],
  ports: Pick<Ports, 'logger'>,
): Promise<void> {
  const deposits = events.map(({ payload }) => ({
    id: payload.deposit_id as DepositId,
    account: payload.account_id as AccountId,
    asset: payload.asset,
    amount: units(payload.amount),
    outpoint: payload.outpoint,
  }));
  await rememberReversals(trx, deposits);
  failpoint('ledger.reversals_remembered');
  const ids = deposits.map(({ id }) => id);
  const { strange } = await bookReversals(trx, ids, ports);
  if (strange.length > 0) throw new OtherContents(`the reversal of deposit ${strange.join(', ')}`);
}

/**
 * Books the reversals of these deposits, as far as the deposits are booked. Their balances are locked.
 * @returns how many were booked, and the deposits whose reversals have other contents: those are not booked
 */
async function bookReversals(
  trx: Trx,
  ids: readonly DepositId[],
  ports: Pick<Ports, 'logger'>,
): Promise<{ booked: number; strange: DepositId[] }> {
  const unbooked = ids.length === 0 ? [] : await unbookedReversals(trx, ids);
  const reversals = unbooked.filter(({ agrees }) => agrees);
  const strange = unbooked.filter(({ agrees }) => !agrees).map(({ id }) => id);
  for (const deposit of strange)
    ports.logger.error(
      { alarm: true, deposit },
      'a deposit was reversed with other contents than it was booked with',
    );
  if (reversals.length === 0) return { booked: 0, strange };
  // One by one: how much the second can take back depends on what the first leaves.
  for (const reversal of reversals) {
    const { id: deposit, account, asset, outpoint } = reversal;
    const [balance] = await lockBalances(trx, [reversal]);
    invariant(balance !== undefined, 'a locked balance is there');
    const { bucket, amount } = remainderOf(reversal, balance.available);
    const posting = reversalPosting(reversal, bucket, amount);
    await book(trx, [posting]);
    failpoint('ledger.reversal_booked');
    const writtenOff = writtenOffBy(posting);
    if (outpoint !== null) {
      await keepPayments(trx, [{ id: deposit, account, asset, outpoint, invoice: null }]);
      if (writtenOff > 0n) await openWriteOff(trx, { account, asset, outpoint }, writtenOff);
    }
    const amounts = { amount: reversal.amount.toString(), written_off: writtenOff.toString() };
    ports.logger.error(
      { alarm: true, deposit, account, asset, ...amounts },
      writtenOff > 0n
        ? 'a credited deposit was reversed and part of it is spent: the rest is written off'
        : 'a credited deposit was reversed and taken back in full',
    );
  }
  const booked = reversals.map(({ id }) => id);
  await markReversalsBooked(trx, booked);
  await markSuspenseReversed(trx, booked);
  // The same payment may be booked as another deposit already, if that event arrived first.
  for (const { id, account, asset, outpoint } of reversals) {
    if (outpoint !== null) await recoverWriteOffs(trx, { account, asset, outpoint }, `reversed:${id}`, ports);
  }
  return { booked: reversals.length, strange };
}

/**
 * Books one reversal whose deposit is booked already. An earlier release processed a deposit that arrived after its reversal
 * without booking the reversal.
 */
export function catchUpReversals({ db, logger }: Pick<Ports, 'db' | 'logger'>): Promise<number> {
  return db.transaction(async (trx) => {
    const deposit = await dueReversal(trx);
    if (deposit === undefined) return 0;
    await lockBalances(trx, [deposit]);
    return (await bookReversals(trx, [deposit.id], { logger })).booked;
  });
}
