import type { BatchHandler } from '@quittance/shared/consumer';
import type { EventKind, EventOf } from '@quittance/shared/events';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { bookReversals } from './operations/book-reversals.ts';
import { type Ending, endHolds } from './operations/end-holds.ts';
import { recordDeposits } from './operations/record-deposits.ts';
import { recordSpending } from './operations/record-spending.ts';
import { reverseDeposits } from './operations/reverse-deposits.ts';
import { voidHolds } from './operations/void-holds.ts';
import { lockBalances } from './store.ts';

const kinds = [
  'deposit.settled',
  'deposit.reversed',
  'hold.settle',
  'hold.release',
  'hold.void',
  'network.spent',
] as const;
type Taken = (typeof kinds)[number];

/**
 * Takes in a batch of events. Every balance it touches is locked before the first of them is handled, in
 * the one order that holds are decided in as well, so that nobody waits for each other.
 */
export function handleEvents(logger: Logger): BatchHandler {
  return async (trx, events) => {
    const taken = events.map(ofOurs);
    await lockBalances(
      trx,
      taken.flatMap(({ payload }) =>
        'account_id' in payload ? [{ account: payload.account_id as AccountId, asset: payload.asset }] : [],
      ),
    );
    // Deposits before their reversals, whatever order the bus brought them in; what was reversed before it came is
    // never there to be spent.
    const settled = only(taken, 'deposit.settled');
    await recordDeposits(trx, logger, settled);
    await bookReversals(
      trx,
      logger,
      settled.map(({ payload }) => payload.deposit_id as DepositId),
    );
    await reverseDeposits(trx, logger, only(taken, 'deposit.reversed'));
    await endHolds(trx, logger, only(taken, 'hold.settle').map(settlement));
    await endHolds(trx, logger, only(taken, 'hold.release').map(release));
    await voidHolds(trx, logger, only(taken, 'hold.void'));
    await recordSpending(trx, only(taken, 'network.spent'));
  };
}

function ofOurs(event: EventOf<EventKind>): EventOf<Taken> {
  if ((kinds as readonly string[]).includes(event.kind)) return event as EventOf<Taken>;
  throw new Error(`no handler for ${event.kind}`);
}

const only = <K extends Taken>(events: readonly EventOf<Taken>[], kind: K): EventOf<K>[] =>
  events.filter((event) => event.kind === kind) as unknown as EventOf<K>[];

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
