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

/** One event, if it is there and the account's own. */
export async function readEvent(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
): Promise<Result<LoggedEvent, AccessRefusal>> {
  const event = await findEvent(db, id);
  if (event === undefined) return refuse('not_found');
  return event.accountId === account ? ok(event) : refuse('forbidden');
}

/** `nextAfter` is where to go on with the same filters: nothing they ask for, now or later, is at or before it unseen. */
export type EventsAfter = SequenceRange & { events: LoggedEvent[]; hasMore: boolean; nextAfter: string };

/** What an account was told after a number of its sequence, in order and without a hole. */
export async function listEvents(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  wanted: EventsQuery,
): Promise<EventsAfter> {
  // Read first: all events up to its last number are there to be seen by the next statement.
  const { lastSequence } = await sequenceRangeOf(db, account);
  const found = await eventsAfter(db, account, { ...wanted, limit: wanted.limit + 1 });
  const events = found.events.slice(0, wanted.limit);
  const hasMore = found.events.length > wanted.limit;
  const seen = [
    String(wanted.after),
    ...events.map((event) => event.sequence),
    // What comes after all that a `to` lets through is not passed over: it is what a later `to` asks for.
    ...(hasMore || wanted.to !== null ? [] : [lastSequence]),
  ];
  return { events, hasMore, nextAfter: seen.reduce(later), lastSequence, firstSequence: found.firstSequence };
}

export type StreamQuery = {
  /** What the client has had; undefined: it wants what happens from now on. */
  after: number | undefined;
  eventTypes: readonly string[] | null;
};

/** Begins to write an account's events to a client that stays; refuses a place in the log that is yet to come. */
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
