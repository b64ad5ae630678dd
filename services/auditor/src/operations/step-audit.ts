import { holdingLease, LeaseLost, takeLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { nextCheck } from '../domain/check-plan.ts';
import type { Ports } from '../ports.ts';
import { lastChecks } from '../store/checks.ts';
import { checkBooks, RecentFailed } from './check-books.ts';

const LEASE_NAME = 'check';
/** A process that died in the middle of a check is followed after this long. */
const LEASE_MS = 5_000;

/**
 * Checks the books when it is time. One replica does it for all; which of them, and what is to be looked at, stands in
 * the database.
 * @returns 1 when they were checked.
 */
export async function stepAudit(ports: Ports): Promise<number> {
  const { db, clock, logger, settings } = ports;
  const last = await lastChecks(db);
  // Of a chain that is not asked any more nothing can be seen.
  const seenChains = last.seenChains.intersection(
    new Set<string>(ports.chains.map((chain) => chain.settings.chain)),
  );
  const plan = nextCheck({ ...last, seenChains }, settings);
  if (plan === undefined) return 0;
  const lease = await takeLease(db, LEASE_NAME, settings.replica, LEASE_MS);
  if (lease === undefined) return 0;
  const failed = (error: unknown) =>
    logger.warn({ reason: reason(error) }, 'the lease of the check could not be prolonged');
  try {
    await holdingLease({ db, clock, ttlMs: LEASE_MS, failed }, lease, async () => {
      try {
        await checkBooks(ports, lease, plan);
      } catch (error) {
        if (!(error instanceof RecentFailed)) throw error;
        logger.warn({ reason: error.message }, 'what is new could not be checked, every row is');
        await checkBooks(ports, lease, { extent: 'whole' });
      }
    });
    return 1;
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    logger.warn('another process has taken over the check of the books');
    return 0;
  }
}
