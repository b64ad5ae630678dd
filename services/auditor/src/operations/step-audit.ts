import { LeaseLost, takeLease, withLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { nextCheck } from '../domain/check-plan.ts';
import type { Ports } from '../ports.ts';
import { lastChecks } from '../store/checks.ts';
import { checkBooks, RecentFailed } from './check-books.ts';

const LEASE_NAME = 'check';
/** Another replica takes over the check of a dead process after this time. */
const LEASE_MS = 5_000;

/**
 * Executes the check that is due. One replica does it for all: the lease and the next check are in the database.
 * @returns 1 when a check was executed.
 */
export async function stepAudit(ports: Ports): Promise<number> {
  const { db, clock, logger, settings } = ports;
  const last = await lastChecks(db);
  // A chain that is no longer configured is not asked.
  const seenChains = last.seenChains.intersection(
    new Set<string>(ports.chains.map((chain) => chain.settings.chain)),
  );
  const plan = nextCheck({ ...last, seenChains }, settings);
  if (plan === undefined) return 0;
  const lease = await takeLease(db, LEASE_NAME, settings.replica, LEASE_MS);
  if (lease === undefined) return 0;
  const failed = (error: unknown) =>
    logger.warn({ reason: reason(error) }, 'the lease of the check could not be renewed');
  try {
    await withLease({ db, clock, ttlMs: LEASE_MS, failed }, lease, async () => {
      try {
        await checkBooks(ports, lease, plan);
      } catch (error) {
        if (!(error instanceof RecentFailed)) throw error;
        logger.warn({ reason: error.message }, 'new rows could not be checked, checking every row');
        await checkBooks(ports, lease, { scope: 'whole' });
      }
    });
    return 1;
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    logger.warn('another process has taken over the check');
    return 0;
  }
}
