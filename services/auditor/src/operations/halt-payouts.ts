import type { AssetSymbol } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import type { Db, Trx } from '@quittance/shared/db';
import { appendToOutbox } from '@quittance/shared/outbox';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { openHalt } from '../store/halts.ts';

export type HaltOrder = { asset: AssetSymbol; reason: string };

/** What an operator's order is given: `note` writes down whose it was, with the halt that it began or ended. */
export type OrderPorts = { db: Db; clock: Clock; note: (trx: Trx, halt: string) => Promise<void> };

/** An operator halts the payouts of an asset, whatever the books say. It lasts until one resumes them. */
export async function haltPayouts(
  { db, clock, note }: OrderPorts,
  { asset, reason }: HaltOrder,
): Promise<Result<{ halt: string }, 'halted_already'>> {
  return await db.transaction(async (trx) => {
    const breaches = [{ invariant: 'operator', what: reason }];
    const halt = await openHalt(trx, asset, breaches, clock.now());
    if (halt === undefined) return refuse('halted_already');
    await appendToOutbox(trx, [{ kind: 'asset.halted', payload: { asset, halt, breaches } }]);
    await note(trx, halt);
    return ok({ halt });
  });
}
