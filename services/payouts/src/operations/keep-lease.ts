import { type Lease, renewLease, withLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import type { Ports } from '../ports.ts';

/** Prolongs the lease during a long round. Throws when another replica has taken it. */
export const keepLease = ({ db, settings }: Pick<Ports, 'db' | 'settings'>, lease: Lease): Promise<void> =>
  renewLease(db, lease, settings.leaseMs);

/** Runs a round and prolongs the lease while it runs. Signing with a lost lease throws. */
export function keepingLease<T>(
  { db, clock, settings, throttledLog }: Pick<Ports, 'db' | 'clock' | 'settings' | 'throttledLog'>,
  lease: Lease,
  round: () => Promise<T>,
): Promise<T> {
  const failed = (error: unknown) =>
    throttledLog.log('warn', 'lease', { reason: reason(error) }, 'the lease could not be prolonged');
  return withLease({ db, clock, ttlMs: settings.leaseMs, failed }, lease, round);
}
