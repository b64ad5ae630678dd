import { releaseLease, takeLease } from '@quittance/shared/lease';
import type { PayoutChain, Ports } from '../ports.ts';
import { engineLease } from './run-engine.ts';

/** Hands the engine over when this process ends in order, so that another need not wait for the lease to run out. */
export async function leaveEngine(
  { db, settings }: Pick<Ports, 'db' | 'settings'>,
  on: Pick<PayoutChain, 'chain' | 'sender'>,
): Promise<void> {
  const lease = await takeLease(db, engineLease(on), settings.replica, settings.leaseMs);
  if (lease !== undefined) await releaseLease(db, lease);
}
