/** A part of the log as `GET /api/events` answers it: oldest first, after a sequence. */
type Part<T> = {
  data: T[];
  meta: { has_more: boolean; next_after: number; first_sequence: number; last_sequence: number };
};
type Load<T> = (query: { after: number; limit: number }) => Promise<Part<T>>;

export type EventsPage<T> = {
  /** Newest first. */
  events: T[];
  /** The sequence before which the page after this one begins; undefined when there is nothing older. */
  before: number | undefined;
};

const WINDOW = 100;
/** A rare event may be far back: so many parts are looked through for one page. */
const WINDOWS_MAX = 20;
const ENOUGH = 20;

/**
 * Reads the log backwards, although the API lists it forwards: sequences have no gap, so the last hundred are those after the
 * last one minus a hundred.
 * @param before undefined: from the newest
 */
export async function eventsBefore<T extends { sequence: number }>(
  load: Load<T>,
  before: number | undefined,
): Promise<EventsPage<T>> {
  const { first_sequence: first, last_sequence: last } = (await load({ after: 0, limit: 1 })).meta;
  const events: T[] = [];
  let end = before ?? last + 1;
  for (let round = 0; round < WINDOWS_MAX && end > first && events.length < ENOUGH; round++) {
    const after = Math.max(end - 1 - WINDOW, first - 1);
    const { data } = await load({ after, limit: WINDOW });
    events.push(...data.filter(({ sequence }) => sequence < end).toReversed());
    end = after + 1;
  }
  return { events, before: end > first ? end : undefined };
}
