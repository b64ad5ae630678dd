import { type Lease, LeaseLost, takeLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import type { Ports } from '../ports.ts';

/**
 * Does the work and prolongs the lease all the while: a full block of Bitcoin, or all that waits for one, may take
 * longer to read than a lease lasts, and with two replicas each would take it from the other and neither ever write.
 * A process that is stopped prolongs nothing.
 */
export async function holdingLease<T>(
  { db, logger }: Pick<Ports, 'db' | 'logger'>,
  lease: Lease,
  leaseMs: number,
  work: () => Promise<T>,
): Promise<T> {
  let renewal: Promise<void> = Promise.resolve();
  let isRenewing = false;
  const renew = async (): Promise<void> => {
    isRenewing = true;
    try {
      const kept = await takeLease(db, lease.name, lease.holder, leaseMs);
      if (kept?.token !== lease.token) throw new LeaseLost(lease.name);
    } catch (error) {
      // When it is lost, the next one who wants to write with it is told so.
      logger.warn({ reason: reason(error) }, 'the lease could not be prolonged');
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(
    () => {
      if (!isRenewing) renewal = renew();
    },
    Math.ceil(leaseMs / 3),
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewal;
  }
}
