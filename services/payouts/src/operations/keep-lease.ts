import { type Lease, renewLease } from '@quittance/shared/lease';
import type { Ports } from '../ports.ts';

/** Prolongs the lease during a long round. Throws when another replica has taken it. */
export const keepLease = ({ db, settings }: Pick<Ports, 'db' | 'settings'>, lease: Lease): Promise<void> =>
  renewLease(db, lease, settings.leaseMs);
