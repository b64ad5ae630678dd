import { reason } from '@quittance/shared/logger';
import type { Ports } from '../ports.ts';
import { deletedWithUntried, pruneDeliveriesOfDeleted } from '../store/endpoints.ts';
import { agesOfEventLogs, pruneEndpoints, pruneEvents } from '../store/events.ts';
import { removeEndedSecrets } from '../store/secrets.ts';

const ACCOUNTS_AT_ONCE = 200;
/** So few that whoever has an event for this account meanwhile waits for milliseconds. */
const EVENTS_AT_ONCE = 200;
const ENDPOINTS_AT_ONCE = 200;
const DELIVERIES_AT_ONCE = 1_000;

/**
 * Removes what is older than events are kept, account by account, the oldest first, and then the deleted endpoints of
 * which nothing is left to explain. Done twice at the same time it does the same: each batch is a statement of its own, and begins
 * where the last one ended. An account whose events cannot be removed is left for the next time, and keeps no other.
 */
export async function pruneOldEvents({ db, logger }: Pick<Ports, 'db' | 'logger'>): Promise<number> {
  let all = 0;
  for (let after = ''; ; ) {
    const accounts = await agesOfEventLogs(db, after, ACCOUNTS_AT_ONCE);
    const last = accounts.at(-1);
    if (last === undefined) break;
    for (const { accountId, isOld } of accounts) {
      if (isOld !== true) continue;
      try {
        all += await untilFewer(EVENTS_AT_ONCE, (most) => pruneEvents(db, accountId, most));
      } catch (error) {
        logger.error({ account: accountId, reason: reason(error) }, 'old events could not be removed');
      }
    }
    after = last.accountId;
  }
  await removeUntried(db);
  const endpoints = await untilFewer(ENDPOINTS_AT_ONCE, (most) => pruneEndpoints(db, most));
  if (all > 0 || endpoints > 0)
    logger.info(
      { events: all, endpoints },
      'removed events that were kept for 90 days, and deleted endpoints',
    );
  return all;
}

/**
 * Removes what deleted endpoints were never sent and an earlier release has cancelled; or an attempt that was stopped, or
 * whose process died, after the endpoint was deleted.
 */
async function removeUntried(db: Ports['db']): Promise<void> {
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const keys: string[] = await deletedWithUntried(db, after, ENDPOINTS_AT_ONCE);
    for (const key of keys)
      await untilFewer(DELIVERIES_AT_ONCE, (most) => pruneDeliveriesOfDeleted(db, key, most));
    after = keys.at(-1);
  }
}

/** Goes on until a batch was not full; answers how many there were in all. */
async function untilFewer(most: number, prune: (most: number) => Promise<number>): Promise<number> {
  let all = 0;
  let pruned: number;
  do {
    pruned = await prune(most);
    all += pruned;
  } while (pruned === most);
  return all;
}

/** Removes the bytes of secrets that have ended; nothing was signed with them since. Answers how many there were. */
export async function pruneEndedSecrets({
  db,
  clock,
  logger,
}: Pick<Ports, 'db' | 'clock' | 'logger'>): Promise<number> {
  const removed = await removeEndedSecrets(db, clock.now());
  if (removed > 0) logger.info({ secrets: removed }, 'removed secrets that have ended');
  return removed;
}
