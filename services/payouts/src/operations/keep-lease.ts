import { type Lease, LeaseLost, takeLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import type { Ports } from '../ports.ts';

/** Prolongs the lease in the middle of a long round; throws when it has gone to another process meanwhile. */
export async function keepLease(
  { db, settings }: Pick<Ports, 'db' | 'settings'>,
  lease: Lease,
): Promise<void> {
  const kept = await takeLease(db, lease.name, lease.holder, settings.leaseMs);
  if (kept?.token !== lease.token) throw new LeaseLost(lease.name);
}

/**
 * Does the work and prolongs the lease all the while: a single answer of a slow node may take longer than a lease
 * lasts, and with two replicas each would take it from the other and nobody ever sign. A process that is stopped
 * prolongs nothing.
 */
export async function holdingLease<T>(
  ports: Pick<Ports, 'db' | 'settings' | 'notices'>,
  lease: Lease,
  work: () => Promise<T>,
): Promise<T> {
  let renewal: Promise<void> = Promise.resolve();
  let isRenewing = false;
  const renew = async (): Promise<void> => {
    isRenewing = true;
    try {
      await keepLease(ports, lease);
    } catch (error) {
      // When it is lost, the next one who wants to sign with it is told so.
      ports.notices.say('warn', 'lease', { reason: reason(error) }, 'the lease could not be prolonged');
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(
    () => {
      if (!isRenewing) renewal = renew();
    },
    Math.ceil(ports.settings.leaseMs / 3),
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewal;
  }
}
