import type { Trx } from '@quittance/shared/db';
import { invariant } from '@quittance/shared/result';
import type { LedgerPayout } from '../domain/posting.ts';
import { decideHolds } from '../store/holds.ts';
import { lockBalances } from '../store/transfers.ts';

/**
 * Places the hold of a payout that has ended, which these records have lost because they were restored. Unlike a hold that is asked
 * for it is never refused for good: where the balance has too little, a deposit of it was lost too and may be booked later.
 */
export async function placeLostHold(
  trx: Trx,
  payout: LedgerPayout & { deposit: null; invoice: string | null },
): Promise<'placed' | 'balance_too_low'> {
  const { account, asset, amount, networkFee } = payout;
  const [balance] = await lockBalances(trx, [{ account, asset }]);
  invariant(balance !== undefined, 'a balance that is locked exists');
  if (balance.available < amount + networkFee) return 'balance_too_low';
  const [hold] = await decideHolds(trx, [payout]);
  invariant(hold?.state === 'placed', 'a balance that is locked keeps what it has');
  return 'placed';
}
