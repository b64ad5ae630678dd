import { releaseLease, takeLease } from '@quittance/shared/lease';
import type { Ports } from '../ports.ts';
import { engineLease } from './run-engine.ts';

/** Hands the engine over when this process ends in order, so that another need not wait for the lease to run out. */
export async function leaveEngine({
  db,
  sender,
  settings,
}: Pick<Ports, 'db' | 'sender' | 'settings'>): Promise<void> {
  const lease = await takeLease(db, engineLease(sender.hotAddress), settings.replica, settings.leaseMs);
  if (lease !== undefined) await releaseLease(db, lease);
}
