import { assets } from '@quittance/shared/assets';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { haltedAssets } from '../store/halts.ts';
import { findPayout, type Payout } from '../store/payouts.ts';
import { failPayout } from './transactions.ts';

/** The `failed_reason` of a cancelled payout. */
const CANCELLED = 'cancelled';

type CancelPorts = Pick<Ports, 'db' | 'chains' | 'logger' | 'wakeRelay'>;

/**
 * Cancels a payout that is not signed: it fails, and all of its money goes back. Cancelling it again returns the same
 * payout. Signing and cancelling change the same row from `reserved`, so exactly one of them happens.
 *
 * | refusal | meaning |
 * |---|---|
 * | `too_late` | The payout is signed or has ended, so it may be paid. |
 * | `halted` | Payouts of the asset are halted, or signing is paused: our records may not show that it was paid. |
 */
export async function cancelPayout(
  { db, chains, logger, wakeRelay }: CancelPorts,
  { id, asset }: Pick<Payout, 'id' | 'asset'>,
): Promise<Result<Payout, 'too_late' | 'halted'>> {
  const isPaused = chains.get(assets[asset].chain)?.signingPause.reason !== undefined;
  if (isPaused || (await haltedAssets(db)).has(asset)) return refuse('halted');
  const failure = { failedReason: CANCELLED, feeKept: false };
  const cancelled = await db.transaction((trx) => failPayout(trx, id, ['reserved'], failure));
  if (cancelled !== undefined) {
    wakeRelay();
    logger.info({ payout: id }, 'a payout was cancelled by its merchant');
    return ok(cancelled);
  }
  const payout = await findPayout(db, id);
  const isCancelled = payout?.status === 'failed' && payout.failedReason === CANCELLED;
  return isCancelled ? ok(payout) : refuse('too_late');
}
