import type { EventOf } from '@quittance/shared/events';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import type { HandlersOf } from '@quittance/shared/process-messages';
import { bookReversals } from './operations/book-reversals.ts';
import { type Ending, endHolds } from './operations/end-holds.ts';
import { recordDeposits } from './operations/record-deposits.ts';
import { recordSpending } from './operations/record-spending.ts';
import { reverseDeposits } from './operations/reverse-deposits.ts';
import { voidHolds } from './operations/void-holds.ts';
import type { Ports } from './ports.ts';
import { lockBalances } from './store/balances.ts';

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
  async 'deposit.settled'(trx, events, ports) {
    await recordDeposits(trx, events, ports);
    const deposits = events.map(({ payload }) => payload.deposit_id as DepositId);
    await bookReversals(trx, deposits, ports);
  },
  'deposit.reversed': reverseDeposits,
  'hold.settle': (trx, events, ports) => endHolds(trx, events.map(settlement), ports),
  'hold.release': (trx, events, ports) => endHolds(trx, events.map(release), ports),
  'hold.void': voidHolds,
  'network.spent': recordSpending,
};

const settlement = ({ payload }: EventOf<'hold.settle'>): Ending => ({
  payout: payoutOf(payload),
  end: { to: 'settled' },
});

const release = ({ payload }: EventOf<'hold.release'>): Ending => ({
  payout: payoutOf(payload),
  end: { to: 'released', feeKept: payload.fee_kept },
});

const payoutOf = (payload: EventOf<'hold.settle' | 'hold.release'>['payload']): Ending['payout'] => ({
  id: payload.payout_id as PayoutId,
  account: payload.account_id as AccountId,
  asset: payload.asset,
  amount: units(payload.amount),
  networkFee: units(payload.network_fee),
});
