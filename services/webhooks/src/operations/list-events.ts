import type { AccountId } from '@quittance/shared/ids';
import type { LoggedEvent } from '../domain/envelope.ts';
import type { Ports } from '../ports.ts';
import { eventsAfter, lastSequenceOf } from '../store-events.ts';

export type EventsQuery = { after: number; kinds: readonly string[] | null; limit: number };
/** `nextAfter` is where to go on: nothing of the asked kinds lies between the last event shown and it. */
export type EventsAfter = {
  events: LoggedEvent[];
  hasMore: boolean;
  nextAfter: string;
  lastSequence: string;
};

/** What an account was told after a number of its sequence, in order and without a hole. */
export async function listEvents(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  { after, kinds, limit }: EventsQuery,
): Promise<EventsAfter> {
  // Read first: all events up to this number are there to be seen by the next statement.
  const lastSequence = await lastSequenceOf(db, account);
  const found = await eventsAfter(db, account, after, kinds, limit + 1);
  const events = found.slice(0, limit);
  const hasMore = found.length > limit;
  const seen = [String(after), ...events.map((event) => event.sequence), ...(hasMore ? [] : [lastSequence])];
  const nextAfter = seen.reduce((most, sequence) => (BigInt(sequence) > BigInt(most) ? sequence : most));
  return { events, hasMore, nextAfter, lastSequence };
}
