import type { Part } from '../../parts/reading.ts';

/** A part of the log as `GET /api/events` answers it: oldest first, after a sequence. */
type Log<T> = {
  data: T[];
  meta: { has_more: boolean; next_after: number; first_sequence: number; last_sequence: number };
};
type Load<T> = (query: { after: number; limit: number }) => Promise<Log<T>>;

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
): Promise<Part<T>> {
  const { first_sequence: first, last_sequence: last } = (await load({ after: 0, limit: 1 })).meta;
  const rows: T[] = [];
  let end = before ?? last + 1;
  for (let round = 0; round < WINDOWS_MAX && end > first && rows.length < ENOUGH; round++) {
    const after = Math.max(end - 1 - WINDOW, first - 1);
    const { data } = await load({ after, limit: WINDOW });
    rows.push(...data.filter(({ sequence }) => sequence < end).toReversed());
    end = after + 1;
  }
  return { rows, before: end > first ? end : undefined };
}
