import { appendToOutbox } from '@quittance/shared/outbox';
import type { Ports } from '../ports.ts';
import { takeUnheededHalts } from '../store/halts.ts';

/** Payouts has heard of it by then, when it can hear at all. */
const HEEDED_WITHIN_SECONDS = 30;

/**
 * Tells payouts again of each halt, and each end of one, that it does not heed, and alarms: what the auditor asked for is
 * not what holds until payouts does it. The halts are numbered, so that to hear of one twice changes nothing.
 * @returns how many there are.
 */
export async function insistOnHalts({
  db,
  logger,
  wakeRelay,
}: Pick<Ports, 'db' | 'logger' | 'wakeRelay'>): Promise<number> {
  const unheeded = await db.transaction(async (trx) => {
    const halts = await takeUnheededHalts(trx, HEEDED_WITHIN_SECONDS);
    await appendToOutbox(
      trx,
      halts.map(({ asset, seq, breaches, resumedAt }) =>
        resumedAt === null
          ? { kind: 'asset.halted', payload: { asset, halt: seq, breaches } }
          : { kind: 'asset.resumed', payload: { asset, halt: seq } },
      ),
    );
    return halts;
  });
  for (const { asset, seq, resumedAt } of unheeded) {
    logger.error(
      { asset, halt: seq },
      resumedAt === null
        ? 'payouts of this asset were to halt and DO NOT, payouts is told again'
        : 'payouts of this asset were to go on and do not, payouts is told again',
    );
  }
  if (unheeded.length > 0) wakeRelay();
  return unheeded.length;
}
