import type { AssetSymbol } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import type { Db, Queryable, Trx } from '@quittance/shared/db';
import { appendToOutbox } from '@quittance/shared/outbox';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import {
  type HaltInForce,
  haltsInForce,
  openHalt,
  openHalts,
  type ShownHalt,
  takeUnacknowledgedHalts,
} from '../store/halts.ts';

/** Its payload has the former name of the discrepancies, which payouts reads. */
export const haltedEvent = (asset: AssetSymbol, halt: string, discrepancies: ShownHalt['discrepancies']) =>
  ({ kind: 'asset.halted', payload: { asset, halt, breaches: discrepancies } }) as const;

/** What an operator's order is given. `note` writes the audit log, in the transaction that begins or ends the halt. */
export type HaltPorts = { db: Db; clock: Clock; note: (trx: Trx, halt: string) => Promise<void> };

/** Halts the payouts of an asset for an operator, until an operator resumes them. @param invariant says by which way it was asked for */
export async function haltPayouts(
  { db, clock, note }: HaltPorts,
  { asset, reason, invariant = 'operator' }: { asset: AssetSymbol; reason: string; invariant?: string },
): Promise<Result<{ halt: string }, 'halted_already'>> {
  return await db.transaction(async (trx) => {
    const discrepancies = [{ invariant, what: reason }];
    const halt = await openHalt(trx, asset, discrepancies, clock.now());
    if (halt === undefined) return refuse('halted_already');
    await appendToOutbox(trx, [haltedEvent(asset, halt, discrepancies)]);
    await note(trx, halt);
    return ok({ halt });
  });
}

export type Halts = { open: ShownHalt[]; inForce: HaltInForce[] };

/** The open halts, and the assets that payouts has halted. */
export const listHalts = async (db: Queryable): Promise<Halts> => ({
  open: await openHalts(db),
  inForce: await haltsInForce(db),
});

/** By then payouts has processed the event, if it runs. */
const ACKNOWLEDGED_WITHIN_SECONDS = 30;

/**
 * Sends payouts each halt and resumption again that it has not acknowledged, and logs an error: nothing is halted until
 * payouts does it. Halts are numbered, so receiving one twice changes nothing.
 * @returns how many were sent again.
 */
export async function resendHalts({
  db,
  logger,
  wakeRelay,
}: Pick<Ports, 'db' | 'logger' | 'wakeRelay'>): Promise<number> {
  const unacknowledged = await db.transaction(async (trx) => {
    const halts = await takeUnacknowledgedHalts(trx, ACKNOWLEDGED_WITHIN_SECONDS);
    await appendToOutbox(
      trx,
      halts.map(({ asset, seq, discrepancies, resumedAt }) =>
        resumedAt === null
          ? haltedEvent(asset, seq, discrepancies)
          : { kind: 'asset.resumed', payload: { asset, halt: seq } },
      ),
    );
    return halts;
  });
  for (const { asset, seq, resumedAt } of unacknowledged) {
    logger.error(
      { asset, halt: seq },
      resumedAt === null
        ? 'payouts of this asset are NOT halted although the auditor has halted them: the event is sent again'
        : 'payouts of this asset are still halted although they were resumed: the event is sent again',
    );
  }
  if (unacknowledged.length > 0) wakeRelay();
  return unacknowledged.length;
}
