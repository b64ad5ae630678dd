import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import {
  beginningOf,
  type Chunk,
  countEvents,
  countReplayed,
  lockReplayedOn,
  type Part,
  type Place,
  type Replayed,
  replayChunk,
  replayedOn,
} from '../store/deliveries.ts';
import { lockQueues } from '../store/endpoint-queues.ts';
import { findEndpoint } from '../store/endpoints.ts';
import { readEndpoint } from './read-endpoint.ts';

export const REPLAYED_EVENTS_MAX = 50_000;
/**
 * What replays may queue for all endpoints of an account on a day (UTC). What an endpoint was sent stays in the log for 90
 * days, also when the endpoint is deleted: without a bound one token fills the disk.
 */
export const REPLAYED_PER_DAY_MAX = 100_000;
/** The endpoint's queue is locked for so many at a time: what is new goes on between two chunks. */
const CHUNK_EVENTS = 1_000;

/** Without `eventTypes`, those that the endpoint is subscribed to. */
export type ReplayOrder = { from: Date; to: Date; eventTypes: string[] | null; includeDelivered: boolean };

export type ReplayRefusal =
  | AccessRefusal
  | 'deleted'
  | 'disabled'
  | 'too_many'
  | { kind: 'too_many_on_a_day'; until: Date };

/**
 * Queues the events of a range of time for an endpoint: those that it never had, those that were given up, and those
 * that it had already when asked for. What waits anyway is left alone, so that asking twice does no harm.
 */
export async function replayEvents(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  account: AccountId,
  id: string,
  { from, to, eventTypes, includeDelivered }: ReplayOrder,
): Promise<Result<Replayed, ReplayRefusal>> {
  const found = await readEndpoint({ db }, account, id);
  if (!found.ok) return found;
  const endpoint = found.value;
  if (!endpoint.enabled) return refuse('disabled');
  const range = { endpoint, eventTypes: eventTypes ?? endpoint.eventTypes, from, to };
  const now = clock.now();
  const counted = await countEvents(db, range, { includeDelivered, atMost: REPLAYED_EVENTS_MAX + 1 });
  if (counted.events > REPLAYED_EVENTS_MAX) return refuse('too_many');
  if (counted.toQueue > 0 && (await replayedOn(db, account, now)) + counted.toQueue > REPLAYED_PER_DAY_MAX)
    return refuse({ kind: 'too_many_on_a_day', until: endOfDay(now) });

  const replayed: Replayed = { queued: 0, alreadyWaiting: 0, alreadyDelivered: 0 };
  let after: Place | undefined = beginningOf();
  while (after !== undefined) {
    const from: Place = after;
    const chunk: Chunk | 'no_queue' | 'spent' = await db.transaction(async (trx) => {
      const left = REPLAYED_PER_DAY_MAX - (await lockReplayedOn(trx, account, now));
      if ((await lockQueues(trx, [endpoint.key])).length === 0) return 'no_queue';
      // Another replay of this moment may have taken what was left. Where nothing was to queue, it costs nothing all the same.
      if (left <= 0 && counted.toQueue > 0) return 'spent';
      const limit = left <= 0 ? CHUNK_EVENTS : Math.min(CHUNK_EVENTS, left);
      const part: Part = { after: from, limit, includeDelivered };
      const done = await replayChunk(trx, range, part, now);
      if (done.queued > 0) await countReplayed(trx, account, now, done.queued);
      return done;
    });
    // What was queued before that stays queued, and is left alone when this is asked for again.
    if (chunk === 'spent') return refuse({ kind: 'too_many_on_a_day', until: endOfDay(now) });
    // Disabled or deleted meanwhile; what was queued before is cancelled with it.
    if (chunk === 'no_queue')
      return refuse((await findEndpoint(db, id)) === undefined ? 'deleted' : 'disabled');
    replayed.queued += chunk.queued;
    replayed.alreadyWaiting += chunk.alreadyWaiting;
    replayed.alreadyDelivered += chunk.alreadyDelivered;
    after = chunk.next;
  }
  return ok(replayed);
}

const DAY_MS = 24 * 3_600_000;
const endOfDay = (now: Date): Date => new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS);
