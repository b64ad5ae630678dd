import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { shownAs } from '../domain/states.ts';
import type { Ports } from '../ports.ts';
import { findPayout, type Payout } from '../store/payouts.ts';

/** A merchant's own payout. A request that never became a payout is not found. */
export async function findOwnPayout(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
): Promise<Result<Payout, AccessRefusal>> {
  // An id has at most 16 digits, and Postgres refuses numbers that are too long.
  const payout = /^[1-9]\d{0,15}$/.test(id) ? await findPayout(db, id as PayoutId) : undefined;
  if (payout === undefined || shownAs[payout.status] === null) return refuse('not_found');
  return payout.account === account ? ok(payout) : refuse('forbidden');
}
