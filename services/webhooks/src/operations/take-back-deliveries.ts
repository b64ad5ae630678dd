import { crashPoint } from '@quittance/shared/crash';
import type { Ports } from '../ports.ts';
import { overdueEndpoints, takeBackOverdue } from '../store/claims.ts';
import { lockQueues, wakeQueues } from '../store/endpoint-queues.ts';

/**
 * Makes due again what a process claimed and did not record in time: it died, and nobody knows whether it had
 * sent it. A receiver sees the same id again.
 */
export async function takeBackDeliveries({
  db,
  clock,
  logger,
}: Pick<Ports, 'db' | 'clock' | 'logger'>): Promise<number> {
  const now = clock.now();
  const keys = await overdueEndpoints(db, now);
  if (keys.length === 0) return 0;
  const back = await db.transaction(async (trx) => {
    await lockQueues(trx, keys);
    const taken = await takeBackOverdue(trx, keys, now);
    await wakeQueues(trx, keys, now);
    return taken;
  });
  crashPoint('webhooks.taken_back');
  logger.warn({ deliveries: back.length }, 'took back deliveries whose sender has not recorded them');
  return back.length;
}
