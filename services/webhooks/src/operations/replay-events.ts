import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { findEndpoint } from '../store-endpoints.ts';
import { lockLanes } from '../store-lanes.ts';
import {
  beginningOf,
  type Chunk,
  countEvents,
  type Part,
  type Place,
  type Replayed,
  replayChunk,
} from '../store-replays.ts';
import { readEndpoint } from './read-endpoint.ts';

export const REPLAYED_EVENTS_MAX = 50_000;
/** The endpoint's lane is locked for so many at a time: what is new goes on between two chunks. */
const CHUNK_EVENTS = 1_000;

/** `kinds` are those that the endpoint is told of, unless given. */
export type ReplayOrder = { from: Date; to: Date; kinds: string[] | null; includeDelivered: boolean };

/**
 * Queues the events of a range of time for an endpoint: those that it never had, those that were given up, and those
 * that it had already when asked for. What waits anyway is left alone, so that asking twice does no harm.
 */
export async function replayEvents(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  account: AccountId,
  id: string,
  { from, to, kinds, includeDelivered }: ReplayOrder,
): Promise<Result<Replayed, 'unknown' | 'not_yours' | 'deleted' | 'disabled' | 'too_many'>> {
  const found = await readEndpoint({ db }, account, id);
  if (!found.ok) return found;
  const endpoint = found.value;
  if (!endpoint.enabled) return refuse('disabled');
  const range = { endpoint, kinds: kinds ?? endpoint.kinds, from, to };
  if ((await countEvents(db, range, REPLAYED_EVENTS_MAX + 1)) > REPLAYED_EVENTS_MAX)
    return refuse('too_many');

  const now = clock.now();
  const replayed: Replayed = { queued: 0, alreadyWaiting: 0, alreadyDelivered: 0 };
  let after: Place | undefined = beginningOf();
  while (after !== undefined) {
    const part: Part = { after, limit: CHUNK_EVENTS, includeDelivered };
    const chunk: Chunk | undefined = await db.transaction(async (trx) => {
      const lanes = await lockLanes(trx, [endpoint.key]);
      return lanes.length === 0 ? undefined : await replayChunk(trx, range, part, now);
    });
    // Disabled or deleted meanwhile; what was queued before is cancelled with it.
    if (chunk === undefined)
      return refuse((await findEndpoint(db, id)) === undefined ? 'deleted' : 'disabled');
    replayed.queued += chunk.queued;
    replayed.alreadyWaiting += chunk.alreadyWaiting;
    replayed.alreadyDelivered += chunk.alreadyDelivered;
    after = chunk.next;
  }
  return ok(replayed);
}
