import { appendToOutbox } from '@quittance/shared/outbox';
import type { Ports } from '../ports.ts';
import { takeUnacknowledgedHalts } from '../store/halts.ts';
import { haltedEvent } from './halt-payouts.ts';

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
