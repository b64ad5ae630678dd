import type { Queryable } from '@quittance/shared/db';
import type { Hold } from '../domain/hold.ts';
import type { LedgerPayout } from '../domain/posting.ts';
import { decideHolds } from '../store/holds.ts';
import { decideRefunds, type Refund } from '../store/suspense.ts';

const isRefund = (payout: LedgerPayout): payout is Refund => payout.deposit !== null;

/**
 * Decides holds that were asked for at the same moment, each once for ever: of balances in one statement, of
 * unresolved deposits in another.
 * @returns what is decided, now or before; those left out are to be asked again.
 */
export async function decideAllHolds(db: Queryable, payouts: readonly LedgerPayout[]): Promise<Hold[]> {
  const returns = payouts.filter(isRefund);
  if (returns.length === 0) return decideHolds(db, payouts);
  const others = payouts.filter((payout) => !isRefund(payout));
  const decided = others.length === 0 ? [] : await decideHolds(db, others);
  return [...decided, ...(await decideRefunds(db, returns))];
}
