import type { Queryable, Trx } from '@quittance/shared/db';
import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { partsOfDeliveryId } from '../domain/delivery.ts';
import type { Ports } from '../ports.ts';
import {
  type Chunk,
  countEvents,
  countReplayed,
  lockReplayedOn,
  type Replayed,
  type ReplayPosition,
  replayChunk,
  replayStart,
  requeueDelivery,
} from '../store/deliveries.ts';
import {
  type DeliveriesQuery,
  deliveriesOf,
  type FoundDelivery,
  findDelivery,
  type LoggedDelivery,
} from '../store/delivery-log.ts';
import { lockQueues } from '../store/endpoint-queues.ts';
import { findEndpoint } from '../store/endpoints.ts';
import { readEndpoint } from './endpoints.ts';

/** One delivery of the account, also of a deleted endpoint. */
export async function readDelivery(
  { db }: { db: Queryable },
  account: AccountId,
  id: string,
): Promise<Result<FoundDelivery, AccessRefusal>> {
  const parts = partsOfDeliveryId(id);
  const delivery = parts && (await findDelivery(db, parts));
  if (delivery === undefined) return refuse('not_found');
  return delivery.accountId === account ? ok(delivery) : refuse('forbidden');
}

/** An endpoint's deliveries, the latest first. `nextBefore` is the start of the next page, null at the end. */
export async function listDeliveries(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
  wanted: DeliveriesQuery,
): Promise<Result<{ deliveries: LoggedDelivery[]; nextBefore: string | null }, AccessRefusal>> {
  const found = await readEndpoint({ db }, account, id);
  if (!found.ok) return found;
  const deliveries = await deliveriesOf(db, found.value, { ...wanted, limit: wanted.limit + 1 });
  const shown = deliveries.slice(0, wanted.limit);
  const nextBefore = deliveries.length > wanted.limit ? (shown.at(-1)?.sequence ?? null) : null;
  return ok({ deliveries: shown, nextBefore });
}

/**
 * Sends an event to an endpoint again, now and with the same id, whatever the state of the delivery. A new retry cycle
 * begins. Two requests before it is sent send it once.
 * @param ports.note writes the operator's audit log in the same transaction
 */
export async function redeliver(
  { db, clock, note }: Pick<Ports, 'db' | 'clock'> & { note?: (trx: Trx) => Promise<void> },
  account: AccountId,
  id: string,
): Promise<Result<LoggedDelivery, AccessRefusal | 'deleted' | 'disabled' | 'sending'>> {
  const now = clock.now();
  return await db.transaction(async (trx) => {
    const known = await readDelivery({ db: trx }, account, id);
    if (!known.ok) return known;
    const queues = await lockQueues(trx, [known.value.endpointKey]);
    const found = await readDelivery({ db: trx }, account, id);
    if (!found.ok) return found;
    if (found.value.endpointDeleted) return refuse('deleted');
    if (queues.length === 0) return refuse('disabled');
    if (!(await requeueDelivery(trx, found.value, now))) return refuse('sending');
    await note?.(trx);
    return await readDelivery({ db: trx }, account, id);
  });
}

export const REPLAYED_EVENTS_MAX = 50_000;
/**
 * How many deliveries the replays of an account may queue on a day (UTC). Sent deliveries stay in the log for 90 days, also
 * of deleted endpoints: without a limit, one token could fill the disk.
 */
export const REPLAYED_PER_DAY_MAX = 100_000;
/** The endpoint's queue is locked for one chunk at a time: new deliveries continue between two chunks. */
const CHUNK_EVENTS = 1_000;

/** Without `eventTypes`, those that the endpoint is subscribed to. */
export type ReplayRequest = { from: Date; to: Date; eventTypes: string[] | null; includeDelivered: boolean };

export type ReplayRefusal =
  | AccessRefusal
  | 'deleted'
  | 'disabled'
  | 'too_many'
  | { kind: 'too_many_on_a_day'; until: Date };

/**
 * Queues the events of a time range for an endpoint: events without a delivery, exhausted and cancelled ones, and delivered
 * ones on request. Waiting ones are left alone, so that a repeated request does no harm.
 */
export async function replayEvents(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  account: AccountId,
  id: string,
  { eventTypes, ...request }: ReplayRequest,
): Promise<Result<Replayed, ReplayRefusal>> {
  const found = await readEndpoint({ db }, account, id);
  if (!found.ok) return found;
  const endpoint = found.value;
  if (!endpoint.enabled) return refuse('disabled');
  const range = { endpoint, eventTypes: eventTypes ?? endpoint.eventTypes, ...request };
  const now = clock.now();
  const counted = await countEvents(db, range, REPLAYED_EVENTS_MAX + 1, now);
  if (counted.events > REPLAYED_EVENTS_MAX) return refuse('too_many');
  if (counted.toQueue > 0 && counted.replayed + counted.toQueue > REPLAYED_PER_DAY_MAX)
    return refuse({ kind: 'too_many_on_a_day', until: endOfDay(now) });

  const replayed: Replayed = { queued: 0, alreadyWaiting: 0, alreadyDelivered: 0 };
  for (let next: ReplayPosition | null = replayStart; next !== null; ) {
    const after: ReplayPosition = next;
    const chunk: Chunk | 'no_queue' | 'limit_reached' = await db.transaction(async (trx) => {
      const left = REPLAYED_PER_DAY_MAX - (await lockReplayedOn(trx, account, now));
      if ((await lockQueues(trx, [endpoint.key])).length === 0) return 'no_queue';
      // A concurrent replay may have used the rest of the day's limit. A replay that queues nothing needs none of it.
      if (left <= 0 && counted.toQueue > 0) return 'limit_reached';
      const limit = left <= 0 ? CHUNK_EVENTS : Math.min(CHUNK_EVENTS, left);
      const done = await replayChunk(trx, range, { after, limit }, now);
      if (done.queued > 0) await countReplayed(trx, account, now, done.queued);
      return done;
    });
    // Deliveries that were queued before stay queued; a repeated request leaves them alone.
    if (chunk === 'limit_reached') return refuse({ kind: 'too_many_on_a_day', until: endOfDay(now) });
    // The endpoint was disabled or deleted: deliveries that were queued before are cancelled with it.
    if (chunk === 'no_queue')
      return refuse((await findEndpoint(db, id)) === undefined ? 'deleted' : 'disabled');
    replayed.queued += chunk.queued;
    replayed.alreadyWaiting += chunk.alreadyWaiting;
    replayed.alreadyDelivered += chunk.alreadyDelivered;
    next = chunk.next;
  }
  return ok(replayed);
}

const DAY_MS = 24 * 3_600_000;
const endOfDay = (now: Date): Date => new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS);
