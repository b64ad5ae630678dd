import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { outcomeOf, sameContents } from '../domain/hold.ts';
import type { Ports } from '../ports.ts';
import { OtherContents } from '../store/transfers.ts';

/**
 * Sets a payout's amount and fee aside, if the balance has them, or the deposit that it pays back waits for a
 * decision still. Decided once by payout id: asking again, at once or years later, gets what was decided.
 */
export async function placeHold(
  { holds }: Pick<Ports, 'holds'>,
  request: RequestOf<'hold.place'>,
): Promise<ReplyOf<'hold.place'>> {
  const payout = {
    id: request.payout_id as PayoutId,
    account: request.account_id as AccountId,
    asset: request.asset,
    amount: units(request.amount),
    networkFee: units(request.network_fee),
    deposit: request.deposit_id as DepositId | null,
  };
  const hold = await holds.decide(payout);
  if (!sameContents(hold, payout)) throw new OtherContents(`the hold of payout ${payout.id}`);
  failpoint('ledger.hold_decided');
  return { outcome: outcomeOf[hold.state], because: hold.because };
}
