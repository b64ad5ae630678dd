import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import type { Ports } from '../ports.ts';
import { rememberReversals } from '../store/reversals.ts';
import { OtherContents } from '../store/transfers.ts';
import { bookReversals } from './book-reversals.ts';

/** Takes back deposits that the chain took back. One whose deposit is not booked yet waits for it. */
export async function reverseDeposits(
  trx: Trx,
  events: readonly EventOf<'deposit.reversed'>[],
  ports: Pick<Ports, 'logger'>,
): Promise<void> {
  if (events.length === 0) return;
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
