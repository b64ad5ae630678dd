import { nativeAsset } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import type { PayoutId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import type { Units } from '@quittance/shared/money';
import { appendToOutbox } from '@quittance/shared/outbox';
import { invariant } from '@quittance/shared/result';
import { paidStatuses, transactionPhases } from '../domain/states.ts';
import type { ChainPorts } from '../ports.ts';
import { movePayout } from '../store/payouts.ts';
import { invalidateOtherAttempts, paymentsOf } from '../store/replacement-groups.ts';
import { moveTransaction, type Transaction } from '../store/transactions.ts';
import { markSwept, markUnswept } from '../store/unswept-deposits.ts';
import { eventView, outcomeView } from '../views.ts';
import { failPayout } from './fail-payout.ts';

/** A sweep that the token refuses costs a fee, so it is not repeated at once. */
const SWEEP_AGAIN_AFTER_MS = 10 * 60_000;

const REVERTED =
  'The recipient address did not accept the payment. The amount was returned to your balance, the network fee was spent.';

/** `feePaid`: the whole cost in the chain's native asset; on Solana with the rent of accounts that it opened. */
export type MinedOutcome = { height: number; blockHash: string; succeeded: boolean; feePaid: Units };

/**
 * Ends a group when one of its attempts has enough confirmations: its payouts or its sweep are completed, or have failed
 * for good, and its other attempts are invalid. `alongside` updates the tables of one kind of chain in the same database
 * transaction. False when it was settled before.
 */
export async function settleTransaction(
  {
    db,
    kind,
    chain,
    clock,
    logger,
    wakeRelay,
  }: Pick<ChainPorts, 'db' | 'kind' | 'chain' | 'clock' | 'logger' | 'wakeRelay'>,
  lease: Lease,
  transaction: Transaction,
  ending: MinedOutcome,
  alongside: (trx: Trx) => Promise<void> = async () => {},
): Promise<boolean> {
  const { id, group, purpose, txHash } = transaction;
  const state = ending.succeeded ? 'mined' : 'reverted';
  const settled = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const moved = await moveTransaction(trx, id, transactionPhases.open, state, ending);
    if (moved === undefined) return undefined;
    await invalidateOtherAttempts(trx, moved);
    const payments = await paymentsOf(trx, group);
    for (const { payoutId } of payments) await endPayout(trx, payoutId, txHash, ending.succeeded);
    if (purpose === 'sweep') {
      if (ending.succeeded) await markSwept(trx, group);
      else await markUnswept(trx, group, new Date(clock.now().getTime() + SWEEP_AGAIN_AFTER_MS));
    }
    if (ending.feePaid > 0n) {
      // The operator bears what the network took, whatever fee the merchant pays.
      const payload = {
        chain,
        asset: nativeAsset[chain],
        amount: ending.feePaid.toString(),
        tx_hash: txHash,
        purpose,
      };
      await appendToOutbox(trx, [{ kind: 'network.spent', payload }]);
    }
    await alongside(trx);
    failpoint(`${kind}.${purpose}s.settling`);
    return payments;
  });
  if (settled === undefined) return false;
  failpoint(`${kind}.${purpose}s.settled`);
  wakeRelay();
  const payouts = settled.map(({ payoutId }) => payoutId);
  const details = { chain, transaction: txHash, payouts, purpose, height: ending.height };
  if (ending.succeeded) logger.info(details, 'mined');
  else logger.error(details, 'a transaction was mined, but its recipient or token refused it');
  return true;
}

async function endPayout(trx: Trx, id: PayoutId, txHash: string, succeeded: boolean): Promise<void> {
  if (!succeeded) {
    const failure = { failedReason: REVERTED, feeKept: true, txHash };
    invariant(
      await failPayout(trx, id, paidStatuses, failure),
      `payout ${id} ended before its transaction did`,
    );
    return;
  }
  const mined = await movePayout(trx, id, paidStatuses, 'mined', { txHash });
  invariant(mined !== undefined, `payout ${id} ended before its transaction did`);
  await appendToOutbox(trx, [
    { kind: 'hold.settle', payload: outcomeView(mined) },
    { kind: 'payout.completed', payload: eventView(mined) },
  ]);
}
