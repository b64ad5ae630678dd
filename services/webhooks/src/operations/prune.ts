import { reason } from '@quittance/shared/logger';
import { CODES_STOPPED_DAYS } from '../domain/mail-schedule.ts';
import type { Ports } from '../ports.ts';
import { pruneMailRows } from '../store/mails.ts';
import {
  type AccountAge,
  agesOfEventLogs,
  deletedWithUntried,
  pruneDeliveriesOfDeleted,
  pruneEndpoints,
  pruneEvents,
  removeEndedSecrets,
} from '../store/pruning.ts';

const ACCOUNTS_AT_ONCE = 200;
/** Small, so that new events of the account wait for milliseconds only. */
const EVENTS_AT_ONCE = 200;
const ENDPOINTS_AT_ONCE = 200;
const DELIVERIES_AT_ONCE = 1_000;
const MAILS_AT_ONCE = 1_000;
const DAY_MS = 24 * 3_600_000;
/** As long as events are. */
const MAILS_KEPT_DAYS = 90;
/** Longer than any limit looks back. */
const CODES_KEPT_DAYS = 2;

/**
 * Removes events that are older than 90 days, account by account, the oldest first, and then deleted endpoints without
 * deliveries. Two replicas may do it at the same time: each batch is one statement and begins where the last one ended. An
 * account whose events cannot be removed is skipped until the next run.
 */
export async function pruneOldEvents({ db, logger }: Pick<Ports, 'db' | 'logger'>): Promise<number> {
  let all = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const accounts: AccountAge[] = await agesOfEventLogs(db, after, ACCOUNTS_AT_ONCE);
    for (const { accountId } of accounts.filter(({ isOld }) => isOld)) {
      try {
        all += await untilFewer(EVENTS_AT_ONCE, (most) => pruneEvents(db, accountId, most));
      } catch (error) {
        logger.error({ account: accountId, reason: reason(error) }, 'old events could not be removed');
      }
    }
    after = accounts.at(-1)?.accountId;
  }
  await removeUntried(db);
  const endpoints = await untilFewer(ENDPOINTS_AT_ONCE, (most) => pruneEndpoints(db, most));
  const removed = { events: all, endpoints };
  if (all > 0 || endpoints > 0)
    logger.info(removed, 'removed events that were kept for 90 days, and deleted endpoints');
  return all;
}

/**
 * Removes deliveries of deleted endpoints that were cancelled untried: by an earlier release, or after the endpoint was
 * deleted because the attempt was stopped or its process died.
 */
async function removeUntried(db: Ports['db']): Promise<void> {
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const keys: string[] = await deletedWithUntried(db, after, ENDPOINTS_AT_ONCE);
    for (const key of keys)
      await untilFewer(DELIVERIES_AT_ONCE, (most) => pruneDeliveriesOfDeleted(db, key, most));
    after = keys.at(-1);
  }
}

/** Repeats until a batch is not full. @returns how many were pruned in all */
async function untilFewer(most: number, prune: (most: number) => Promise<number>): Promise<number> {
  let all = 0;
  let pruned: number;
  do {
    pruned = await prune(most);
    all += pruned;
  } while (pruned === most);
  return all;
}

/** Removes secrets that have ended. @returns how many */
export async function pruneEndedSecrets({
  db,
  clock,
  logger,
}: Pick<Ports, 'db' | 'clock' | 'logger'>): Promise<number> {
  const removed = await removeEndedSecrets(db, clock.now());
  if (removed > 0) logger.info({ secrets: removed }, 'removed secrets that have ended');
  return removed;
}

/** Removes mails that are older than 90 days, and what is no longer needed of the limits of codes. */
export async function pruneOldMails({ db, clock }: Pick<Ports, 'db' | 'clock'>): Promise<number> {
  const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
  return await untilFewer(MAILS_AT_ONCE, (limit) =>
    pruneMailRows(db, {
      mailsBefore: daysAgo(MAILS_KEPT_DAYS),
      codesBefore: daysAgo(CODES_KEPT_DAYS),
      stopsBefore: daysAgo(CODES_STOPPED_DAYS),
      limit,
    }),
  );
}
