import type { AssetSymbol } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import type { Db, Trx } from '@quittance/shared/db';
import { appendToOutbox } from '@quittance/shared/outbox';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { openHalt, type ShownHalt } from '../store/halts.ts';

/** Its payload has the former name of the discrepancies, which payouts reads. */
export const haltedEvent = (asset: AssetSymbol, halt: string, discrepancies: ShownHalt['discrepancies']) =>
  ({ kind: 'asset.halted', payload: { asset, halt, breaches: discrepancies } }) as const;

export type HaltOrder = { asset: AssetSymbol; reason: string };

/** What an operator's order is given. `note` writes the audit log, in the transaction that begins or ends the halt. */
export type OrderPorts = { db: Db; clock: Clock; note: (trx: Trx, halt: string) => Promise<void> };

/** Halts the payouts of an asset for an operator, until an operator resumes them. */
export async function haltPayouts(
  { db, clock, note }: OrderPorts,
  { asset, reason }: HaltOrder,
): Promise<Result<{ halt: string }, 'halted_already'>> {
  return await db.transaction(async (trx) => {
    const discrepancies = [{ invariant: 'operator', what: reason }];
    const halt = await openHalt(trx, asset, discrepancies, clock.now());
    if (halt === undefined) return refuse('halted_already');
    await appendToOutbox(trx, [haltedEvent(asset, halt, discrepancies)]);
    await note(trx, halt);
    return ok({ halt });
  });
}
