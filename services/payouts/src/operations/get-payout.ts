import type { AccountId, PayoutId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { shownAs } from '../domain/payout-state.ts';
import type { Ports } from '../ports.ts';
import { findPayout, type Payout } from '../store-payouts.ts';

/** A merchant's own payout. What never became one is not found. */
export async function getPayout(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: PayoutId,
): Promise<Result<Payout, 'not_found' | 'not_yours'>> {
  const payout = await findPayout(db, id);
  if (payout === undefined || shownAs[payout.status] === null) return refuse('not_found');
  return payout.account === account ? ok(payout) : refuse('not_yours');
}
