import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import type { Units } from '@quittance/shared/money';
import { announce } from '@quittance/shared/outbox';
import { invariant } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { markSwept, markUnswept } from '../store-holdings.ts';
import { movePayout } from '../store-payouts.ts';
import { moveTransaction, type Transaction } from '../store-transactions.ts';
import { outcomeView, toldView } from '../views.ts';

/** A sweep that the token refused costs a fee: whatever was wrong gets time to pass. */
const SWEEP_AGAIN_AFTER_MS = 10 * 60_000;

const REVERTED =
  'The recipient address did not accept the payment. The amount was returned to your balance, the network fee was spent.';

type Ending = { height: number; blockHash: string; succeeded: boolean; feePaid: Units };

/**
 * A transaction is as deep in the chain as its asset asks: what it was made for is done, or has failed for good.
 * False when it was settled before.
 */
export async function settleTransaction(
  { db, clock, logger, announced }: Pick<Ports, 'db' | 'clock' | 'logger' | 'announced'>,
  lease: Lease,
  { id, purpose, payoutId, txHash }: Transaction,
  ending: Ending,
): Promise<boolean> {
  const state = ending.succeeded ? 'mined' : 'reverted';
  const settled = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const moved = await moveTransaction(trx, id, ['signed', 'broadcast'], state, ending);
    if (moved === undefined) return false;
    if (payoutId !== null) await endPayout(trx, payoutId, txHash, ending.succeeded);
    else if (ending.succeeded) await markSwept(trx, id);
    else await markUnswept(trx, id, new Date(clock.now().getTime() + SWEEP_AGAIN_AFTER_MS));
    crashPoint(`${purpose}s.settling`);
    return true;
  });
  if (!settled) return false;
  crashPoint(`${purpose}s.${state}`);
  announced();
  const said = { transaction: txHash, payout: payoutId, purpose, height: ending.height };
  if (ending.succeeded) logger.info(said, 'mined');
  else logger.error(said, 'a transaction was mined, but its recipient or token refused it');
  return true;
}

async function endPayout(trx: Trx, id: PayoutId, txHash: string, succeeded: boolean): Promise<void> {
  const to = succeeded ? 'mined' : 'failed';
  const ended = await movePayout(trx, id, ['signed', 'broadcast'], to, {
    txHash,
    failedReason: succeeded ? null : REVERTED,
  });
  invariant(ended !== undefined, `payout ${id} ended before its transaction did`);
  const outcome = outcomeView(ended);
  await announce(
    trx,
    succeeded
      ? [
          { kind: 'hold.settle', payload: outcome },
          { kind: 'payout.completed', payload: toldView(ended) },
        ]
      : [
          { kind: 'hold.release', payload: { ...outcome, fee_kept: true } },
          { kind: 'payout.failed', payload: toldView(ended) },
        ],
  );
}
