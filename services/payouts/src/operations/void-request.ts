import type { Trx } from '@quittance/shared/db';
import { forgetKey } from '@quittance/shared/idempotency';
import type { PayoutId } from '@quittance/shared/ids';
import { announce } from '@quittance/shared/outbox';
import { movePayout } from '../store-payouts.ts';

/**
 * Gives up a request that the ledger has not answered: it can never be paid, and the ledger will undo its
 * hold, or refuse it when the question arrives late. Its idempotency key may be used anew.
 * False when the request was decided meanwhile.
 */
export async function voidRequest(trx: Trx, id: PayoutId, requestId: string | null): Promise<boolean> {
  const voided = await movePayout(trx, id, ['requested'], 'voided');
  if (voided === undefined) return false;
  await forgetKey(trx, id);
  const { account, asset } = voided;
  await announce(
    trx,
    [{ kind: 'hold.void', payload: { payout_id: id, account_id: account, asset } }],
    requestId,
  );
  return true;
}
