import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import type { HandlersOf } from '@quittance/shared/process-messages';
import { networkPosting } from './domain/posting.ts';
import { recordDeposits, reverseDeposits } from './operations/deposits.ts';
import { endHolds, voidHolds } from './operations/end-holds.ts';
import type { Ports } from './ports.ts';
import { book, lockBalances } from './store/transfers.ts';

/**
 * What the ledger does with events. Every balance that a batch touches is locked before its first event is handled, in
 * the order that holds are decided in as well: two transactions never wait for each other's locks.
 */
export const handlers: HandlersOf<'ledger', Pick<Ports, 'logger'>> = {
  async '*'(trx, events) {
    const touched = events.flatMap(({ payload }) =>
      'account_id' in payload && 'asset' in payload
        ? [{ account: payload.account_id as AccountId, asset: payload.asset }]
        : [],
    );
    await lockBalances(trx, touched);
  },
  // Deposits come before their reversals, in whatever order they arrive: a deposit that was reversed before it
  // came is never there to be spent.
  'deposit.settled': recordDeposits,
  'deposit.reversed': reverseDeposits,
  'hold.settle': endHolds,
  'hold.release': endHolds,
  'hold.void': voidHolds,
  'network.spent': recordSpending,
};

/** Books what our own transactions cost us on their chains, each once. No balance is touched by it. */
async function recordSpending(trx: Trx, events: readonly EventOf<'network.spent'>[]): Promise<void> {
  const costs = events.map(({ payload: { tx_hash: txHash, asset, amount, purpose } }) => ({
    txHash,
    asset,
    amount: units(amount),
    purpose,
  }));
  // On a network without fees there is nothing to book.
  const spent = costs.filter(({ amount }) => amount > 0n);
  await book(trx, spent.map(networkPosting));
  if (spent.length > 0) failpoint('ledger.spending_booked');
}
