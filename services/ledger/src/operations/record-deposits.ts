import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { announce } from '@quittance/shared/outbox';
import { depositPosting } from '../domain/posting.ts';
import { book } from '../store.ts';
import { openUnresolved } from '../store-unresolved.ts';

/** Credits settled deposits, each once whatever arrives how often, and tells invoices that it is done. */
export async function recordDeposits(trx: Trx, events: readonly EventOf<'deposit.settled'>[]): Promise<void> {
  if (events.length === 0) return;
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
  crashPoint('ledger.deposits_booked');
  const told = events.filter(({ payload }) => booked.delete(`deposit:${payload.deposit_id as DepositId}`));
  await openUnresolved(
    trx,
    told.map(({ payload }) => payload).filter(({ disposition }) => disposition === 'unresolved'),
  );
  await announce(
    trx,
    told.map(({ payload: { deposit_id, invoice_id } }) => ({
      kind: 'credit.recorded',
      payload: { deposit_id, invoice_id },
    })),
  );
}
