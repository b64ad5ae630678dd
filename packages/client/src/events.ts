import type { Api } from './api.ts';
import { followEvents } from './follow-events.ts';
import type { Answer, Item, Query } from './operations.ts';
import { type EventsMeta, eventList, type List } from './pages.ts';
import { framesOf } from './server-sent-events.ts';
import { path, type RequestOptions } from './transport.ts';
import { sleep } from './waiting.ts';

/** An event of the account's log, or of a webhook. `sequence` counts without a gap. */
export type QuittanceEvent = Item<'listEvents'>;
export type EventType = QuittanceEvent['event'];

export type FollowOptions = {
  /** The sequence of the last event that you have handled; 0 for all that are kept. What comes from now on when not given. */
  after?: number | undefined;
  /** Event types. All when not given. */
  kinds?: readonly EventType[] | undefined;
  /** Ends the iteration, without an error. */
  signal?: AbortSignal | undefined;
};

type Listed = Omit<Query<'listEvents'>, 'kinds'> & { kinds?: readonly EventType[] | undefined };

const PAGE_EVENTS = 500;
/** The stream sends a comment every 15 seconds. */
const QUIET_MAX_MS = 45_000;

export class Events {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  retrieve(id: string, options?: RequestOptions): Promise<Answer<'getEvent'>> {
    return this.#api.get(path`/api/events/${id}`, options);
  }

  /** Events after the sequence `after`, oldest first. They are kept for 90 days. */
  list(query?: Listed, options?: RequestOptions): List<QuittanceEvent, EventsMeta> {
    return eventList(this.#api.transport, '/api/events', query, options);
  }

  /**
   * Goes through all events in their order, and waits for new ones. Each comes once: store its `sequence` when you have handled
   * it, and give it as `after` when you start again. Interruptions are mended by themselves.
   * @throws EventGapError when events are no longer kept; AuthenticationError when the token has ended
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<QuittanceEvent, void, undefined> {
    const { after, kinds, signal } = options;
    const transport = this.#api.transport;
    // It is tried again by what follows the log, which knows how far it has come.
    const once = { maxRetries: 0, signal };
    const log = {
      page: (from: number) => this.list({ after: from, kinds, limit: PAGE_EVENTS }, once),
      last: async () => (await this.list({ after: 0, limit: 1 }, once)).meta.last_sequence,
      async *stream(from: number) {
        const accept = 'text/event-stream';
        const query = { after: from, kinds };
        const call = { method: 'GET', path: '/api/events/stream', query, accept, options: once } as const;
        yield* framesOf(await transport.stream(call), QUIET_MAX_MS, signal);
        signal?.throwIfAborted();
      },
      pause: (ms: number) => sleep(ms, signal),
      random: Math.random,
    };
    try {
      yield* followEvents<QuittanceEvent>(log, { after, isFiltered: kinds !== undefined });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  }
}
