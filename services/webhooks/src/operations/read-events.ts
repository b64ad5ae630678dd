import type { ServerResponse } from 'node:http';
import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type LoggedEvent, later } from '../domain/envelope.ts';
import type { StreamRefusal } from '../event-streams.ts';
import type { Ports } from '../ports.ts';
import {
  type EventsQuery,
  eventsAfter,
  findEvent,
  type SequenceRange,
  sequenceRangeOf,
} from '../store/events.ts';

/** One event of the account. */
export async function readEvent(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
): Promise<Result<LoggedEvent, AccessRefusal>> {
  const event = await findEvent(db, id);
  if (event === undefined) return refuse('not_found');
  return event.accountId === account ? ok(event) : refuse('forbidden');
}

/** `nextAfter` is the start of the next page: with the same filters, no unread event is at or before it, now or later. */
export type EventsAfter = SequenceRange & { events: LoggedEvent[]; hasMore: boolean; nextAfter: string };

/** The events of an account after a sequence number, in order and without a gap. */
export async function listEvents(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  wanted: EventsQuery,
): Promise<EventsAfter> {
  // Read first: the next statement sees all events up to this number.
  const { lastSequence } = await sequenceRangeOf(db, account);
  const found = await eventsAfter(db, account, { ...wanted, limit: wanted.limit + 1 });
  const events = found.events.slice(0, wanted.limit);
  const hasMore = found.events.length > wanted.limit;
  const seen = [
    String(wanted.after),
    ...events.map((event) => event.sequence),
    // Events after `to` are not skipped: a request with a later `to` reads them.
    ...(hasMore || wanted.to !== null ? [] : [lastSequence]),
  ];
  return { events, hasMore, nextAfter: seen.reduce(later), lastSequence, firstSequence: found.firstSequence };
}

export type StreamQuery = {
  /** The last event that the client has; undefined: it wants new events only. */
  after: number | undefined;
  eventTypes: readonly string[] | null;
};

/** Opens a stream of an account's events. Refuses a start after the last event. */
export async function openEventStream(
  { db, streams }: Pick<Ports, 'db' | 'streams'>,
  res: ServerResponse,
  account: AccountId,
  { after, eventTypes }: StreamQuery,
): Promise<Result<null, StreamRefusal | { last: string }>> {
  const { lastSequence: last } = await sequenceRangeOf(db, account);
  if (after !== undefined && BigInt(after) > BigInt(last)) return refuse({ last });
  const refused = streams.open(res, { account, eventTypes, after: String(after ?? last) });
  return refused === undefined ? ok(null) : refuse(refused);
}
