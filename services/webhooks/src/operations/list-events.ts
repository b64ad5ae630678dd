import type { AccountId } from '@quittance/shared/ids';
import type { LoggedEvent } from '../domain/envelope.ts';
import { later } from '../domain/sequence.ts';
import type { Ports } from '../ports.ts';
import { type EventsWanted, type Extent, eventsAfter, extentOf } from '../store-events.ts';

/** `nextAfter` is where to go on with the same filters: nothing they ask for, now or later, is at or before it unseen. */
export type EventsAfter = Extent & { events: LoggedEvent[]; hasMore: boolean; nextAfter: string };

/** What an account was told after a number of its sequence, in order and without a hole. */
export async function listEvents(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  wanted: EventsWanted,
): Promise<EventsAfter> {
  // Read first: all events up to its last number are there to be seen by the next statement.
  const { lastSequence } = await extentOf(db, account);
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
