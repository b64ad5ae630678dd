import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { appendToOutbox } from '@quittance/shared/outbox';
import { depositPosting } from '../domain/posting.ts';
import type { Ports } from '../ports.ts';
import { type CreditedPayment, keepPayments } from '../store/reversals.ts';
import { openSuspense } from '../store/suspense.ts';
import { book } from '../store/transfers.ts';
import { recoverWriteOffs } from './recover-write-offs.ts';

/** Credits settled deposits, each once, reduces write-offs by what they recover, and appends the events for invoices. */
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
  const payments = told.map(({ payload: { deposit_id, account_id, asset, outpoint } }) => ({
    id: deposit_id as DepositId,
    account: account_id as AccountId,
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
}
