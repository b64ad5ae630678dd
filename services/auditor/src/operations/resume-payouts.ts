import { ChainNotCompared } from '@quittance/reconciliation/chain-not-compared';
import type { ReconciledChain } from '@quittance/reconciliation/chain-records';
import { checkInvariants } from '@quittance/reconciliation/check-invariants';
import type { Discrepancy } from '@quittance/reconciliation/discrepancy';
import { invariants } from '@quittance/reconciliation/invariants';
import { snapshotOf } from '@quittance/reconciliation/snapshot';
import { checkChain } from '@quittance/reconciliation/verify-books';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { appendToOutbox } from '@quittance/shared/outbox';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { chainScope } from '../store/checks.ts';
import { acceptDiscrepancies } from '../store/discrepancies.ts';
import { closeHalt, openHalts } from '../store/halts.ts';
import type { HaltPorts } from './halts.ts';

const CHECK_MAX_MS = 30 * 60_000;

export type ResumeOrder = {
  asset: AssetSymbol;
  /** Although a discrepancy is still there, or the chain cannot be asked. */
  force: boolean;
  /** The chains whose nodes can be asked. */
  chains: readonly ReconciledChain[];
  gracePeriodSeconds: number;
  /** How far back payouts and deposits are looked up in their chain. */
  chainDays: number;
};

export type ResumeRefusal =
  | { why: 'not_halted' }
  | { why: 'still_wrong'; discrepancies: readonly Discrepancy[] }
  /** The records were not compared with the chain of the asset. */
  | { why: 'chain_unseen'; reason: string };

export type Resumed = { halt: string; accepted: readonly Discrepancy[] };

/**
 * Resumes the payouts of an asset for an operator. Every row is checked first: a discrepancy refuses it, or is accepted by
 * force and does not halt the asset again.
 */
export async function resumePayouts(
  { db, clock, note }: HaltPorts,
  { asset, force, chains, gracePeriodSeconds, chainDays }: ResumeOrder,
): Promise<Result<Resumed, ResumeRefusal>> {
  const halts = await openHalts(db);
  if (!halts.some((halt) => halt.asset === asset)) return refuse({ why: 'not_halted' });
  const { chain } = assets[asset];
  const watched = chains.filter(({ settings }) => settings.chain === chain);
  if (watched.length === 0 && !force) {
    return refuse({ why: 'chain_unseen', reason: `no node of ${chain} is configured` });
  }
  const snapshot = snapshotOf(db, CHECK_MAX_MS);
  const found = await checkInvariants(snapshot, invariants, { gracePeriodSeconds });
  const scope = { gracePeriodSeconds, ...(await chainScope(db, chain, chainDays)) };
  try {
    for (const one of watched) found.push(...(await checkChain(snapshot, one, scope)).discrepancies);
  } catch (error) {
    if (!(error instanceof ChainNotCompared)) throw error;
    if (!force) return refuse({ why: 'chain_unseen', reason: error.message });
  }
  const discrepancies = found.filter(
    (one) => one.pausesPayouts && (one.asset === undefined || one.asset === asset),
  );
  if (discrepancies.length > 0 && !force) return refuse({ why: 'still_wrong', discrepancies });
  return await db.transaction(async (trx) => {
    const at = clock.now();
    const halt = await closeHalt(trx, asset, { at, forced: force && discrepancies.length > 0 });
    if (halt === undefined) return refuse({ why: 'not_halted' } as const);
    await acceptDiscrepancies(trx, asset, discrepancies, at);
    await appendToOutbox(trx, [{ kind: 'asset.resumed', payload: { asset, halt } }]);
    await note(trx, halt);
    return ok({ halt, accepted: discrepancies });
  });
}
