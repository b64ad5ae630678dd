import { failpoint } from '@quittance/shared/failpoint';
import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { acceptSuspense, findSuspense, type SuspenseItem } from '../store/suspense.ts';

export type AcceptRefusal = AccessRefusal | 'accepted' | 'returned' | 'reversed';

/** Takes an unresolved deposit into its account's balance, once. */
export async function acceptDeposit(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: DepositId,
): Promise<Result<SuspenseItem, AcceptRefusal>> {
  const item = await findSuspense(db, id);
  if (item === undefined) return refuse('not_found');
  if (item.account !== account) return refuse('forbidden');
  const accepted = await acceptSuspense(db, item);
  if (accepted !== undefined) {
    failpoint('ledger.unresolved_accepted');
    return ok(accepted);
  }
  // Somebody was faster, or it was decided long ago.
  const { state } = (await findSuspense(db, id)) ?? item;
  switch (state) {
    case 'accepted':
    case 'reversed':
      return refuse(state);
    // A refund that ended between the two statements is answered like one in flight: the client may ask again.
    case 'open':
    case 'returning':
    case 'returned':
      return refuse('returned');
  }
}
