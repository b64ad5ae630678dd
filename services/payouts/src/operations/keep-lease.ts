import { type Lease, LeaseLost, takeLease } from '@quittance/shared/lease';
import type { Ports } from '../ports.ts';

/** Prolongs the lease in the middle of a long round; throws when it has gone to another process meanwhile. */
export async function keepLease(
  { db, settings }: Pick<Ports, 'db' | 'settings'>,
  lease: Lease,
): Promise<void> {
  const kept = await takeLease(db, lease.name, lease.holder, settings.leaseMs);
  if (kept?.token !== lease.token) throw new LeaseLost(lease.name);
}
