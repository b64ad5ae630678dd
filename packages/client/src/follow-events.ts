import {
  ConnectionError,
  EventGapError,
  type QuittanceError,
  RateLimitError,
  ServerError,
  UnavailableError,
} from './errors.ts';
import type { EventsMeta } from './pages.ts';
import { backoffMs } from './retry.ts';
import type { Frame } from './server-sent-events.ts';

type Sequenced = { sequence: number };

/** The log of an account's events, as the API shows it. */
export type EventLog<Event> = {
  /** Events after a sequence, oldest first. */
  page(after: number): Promise<{ data: readonly Event[]; meta: EventsMeta }>;
  /** The last sequence of the log. */
  last(): Promise<number>;
  stream(after: number): AsyncIterable<Frame>;
  /** @throws when the reader wants no more */
  pause(ms: number): Promise<void>;
  random(): number;
};

type Reading = {
  /** The sequence up to which everything was seen; undefined: the reader wants what comes from now on. */
  after: number | undefined;
  /** Whether the log shows some kinds of events only, so that sequences may be left out. */
  isFiltered: boolean;
};

const FIRST_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 30_000;

/**
 * The events of a log in their order, each once. The stream is read for new events, and whenever it ends or leaves out a
 * sequence, the pages of the log are read from where the reader is.
 * @throws EventGapError when events are no longer kept, and every error that a repeated request does not mend
 */
export async function* followEvents<Event extends Sequenced>(
  log: EventLog<Event>,
  { after, isFiltered }: Reading,
): AsyncGenerator<Event, void, undefined> {
  let position = after ?? (await lastOf(log));
  for (let failures = 0; ; ) {
    let failure: unknown;
    try {
      for (let hasMore = true; hasMore; ) {
        const { data, meta } = await log.page(position);
        if (meta.first_sequence > position + 1) throw new EventGapError(position, meta.first_sequence);
        for (const event of data) {
          if (event.sequence <= position) continue;
          if (!isFiltered && event.sequence > position + 1) throw new EventGapError(position, event.sequence);
          position = event.sequence;
          failures = 0;
          yield event;
        }
        position = Math.max(position, meta.next_after);
        hasMore = meta.has_more;
      }
      let frames = 0;
      for await (const frame of log.stream(position)) {
        const { sequence, event } = readFrame<Event>(frame, position);
        // The first says where the stream begins. More show that it works.
        if (++frames > 1) failures = 0;
        if (event !== undefined && sequence <= position) continue;
        // The pages have what the stream left out.
        if (event !== undefined && !isFiltered && sequence > position + 1) break;
        if (event !== undefined || isFiltered) position = sequence;
        if (event !== undefined) yield event;
      }
    } catch (error) {
      failure = error;
    }
    failures += 1;
    await pauseAfter(log, failures, failure);
  }
}

async function lastOf<Event>(log: EventLog<Event>): Promise<number> {
  for (let failures = 1; ; failures++) {
    try {
      return await log.last();
    } catch (error) {
      await pauseAfter(log, failures, error);
    }
  }
}

/** @param error why the reading ended; undefined when the stream has ended, as each does after a time */
async function pauseAfter<Event>(log: EventLog<Event>, failures: number, error: unknown): Promise<void> {
  if (error !== undefined && !isTransient(error)) throw error as Error;
  const asked = (error?.retryAfterSeconds ?? 0) * 1_000;
  await log.pause(asked + backoffMs(failures, log.random(), FIRST_PAUSE_MS, PAUSE_MAX_MS));
}

const isTransient = (error: unknown): error is QuittanceError =>
  [ConnectionError, RateLimitError, UnavailableError, ServerError].some((kind) => error instanceof kind);

function readFrame<Event extends Sequenced>({ id, event, data }: Frame, position: number) {
  if (data === undefined) {
    const sequence = /^\d+$/.test(id ?? '') ? Number.parseInt(id ?? '', 10) : position; // eslint-disable-line no-restricted-syntax -- a sequence
    return { sequence: Math.max(sequence, position), event: undefined };
  }
  if (event === 'gap') {
    const { after, first_sequence } = JSON.parse(data) as { after: number; first_sequence: number };
    if (first_sequence > position + 1) throw new EventGapError(Math.max(after, position), first_sequence);
    return { sequence: position, event: undefined };
  }
  const read = JSON.parse(data) as Event;
  return { sequence: read.sequence, event: read };
}
