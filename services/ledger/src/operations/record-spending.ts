import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import { units } from '@quittance/shared/money';
import { networkPosting } from '../domain/posting.ts';
import { book } from '../store/transfers.ts';

/** Books what our own transactions cost us on their chains, each once. No balance is touched by it. */
export async function recordSpending(trx: Trx, events: readonly EventOf<'network.spent'>[]): Promise<void> {
  // On a network without fees there is nothing to book.
  const spent = events.filter(({ payload }) => units(payload.amount) > 0n);
  await book(
    trx,
    spent.map(({ payload }) =>
      networkPosting({
        txHash: payload.tx_hash,
        asset: payload.asset,
        amount: units(payload.amount),
        purpose: payload.purpose,
      }),
    ),
  );
  if (spent.length > 0) failpoint('ledger.spending_booked');
}
