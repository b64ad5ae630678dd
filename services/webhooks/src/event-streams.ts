import type { ServerResponse } from 'node:http';
import type { Db } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { type Logger, reason } from '@quittance/shared/logger';
import { startWorker, withBatchPause } from '@quittance/shared/worker';
import { beatFrame, eventFrame, gapFrame, later, openingFrame } from './domain/envelope.ts';
import { type EventPage, eventsForFollowers, type Follower, lastSequencesOf } from './store/events.ts';

/** Limits of a replica's streams. */
export const streamLimits = {
  perAccount: 10,
  perReplica: 1_000,
  /** Then the client opens a new stream, with a token that must still be valid. */
  lastsMs: 10 * 60_000,
  beatEveryMs: 15_000,
  /** A client that reads nothing for so long is disconnected. */
  stuckMs: 30_000,
  lookEveryMs: 500,
};

export type StreamRefusal = 'too_many_of_account' | 'too_many' | 'closing';

export type EventStreams = {
  /** Writes the log after a sequence number, and then new events, until one side ends the stream. Returns a refusal. */
  open(res: ServerResponse, follower: Follower): StreamRefusal | undefined;
  /** Call it when events were stored. */
  wake(): void;
  /** Ends all streams and opens no more. Clients reconnect to another replica. */
  close(): Promise<void>;
};

/** `after` is the sequence number up to which the log was read. */
type Stream = Follower & {
  res: ServerResponse;
  /** The last id that was sent to the client. */
  sentId: string;
  endsAt: number;
  beatAt: number;
  /** Since when the client does not read; for an ended stream, since its end. */
  stuckSince: number | undefined;
  /** Set after a read of several streams failed: it is read alone, and not before that time. */
  aloneFrom: number | undefined;
};

const FOLLOWERS_AT_ONCE = 50;
const EVENTS_AT_ONCE = 32;
/** The pause after a read of one stream alone failed. */
const UNREADABLE_MS = 60_000;
/** A page ends with the event that exceeds this. */
const PAGE_CHARACTERS = 64_000;
/** Streams that were opened together end at different times, so that their clients do not always reconnect together. */
const ENDS_EARLIER_AT_MOST = 0.1;

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** The answer to HEAD. */
export function answerHead(res: ServerResponse): void {
  res.writeHead(200, headers).end();
}

/**
 * All streams of this replica. One loop checks the logs of their accounts twice a second, and reads new events from the
 * log. Events are never passed on in memory, so none can be missed or arrive out of order. A stream keeps at most one page
 * in memory.
 */
export function createEventStreams(
  { db, logger }: { db: Db; logger: Logger },
  limits: typeof streamLimits = streamLimits,
): EventStreams {
  const streams = new Set<Stream>();
  let closing = false;
  const worker = startWorker({
    name: 'event streams',
    everyMs: limits.lookEveryMs,
    step: () => withBatchPause(step, (more) => more > 0),
    logger,
  });

  function refusal(account: AccountId): StreamRefusal | undefined {
    if (closing) return 'closing';
    if (streams.size >= limits.perReplica) return 'too_many';
    const own = [...streams].filter((stream) => stream.account === account);
    return own.length >= limits.perAccount ? 'too_many_of_account' : undefined;
  }

  function write(stream: Stream, text: string): void {
    if (stream.res.write(text)) return;
    stream.stuckSince = performance.now();
    stream.res.once('drain', () => {
      stream.stuckSince = undefined;
      worker.wake();
    });
  }

  async function step(): Promise<number> {
    const now = performance.now();
    const reading = [...streams].filter((stream) => keepAlive(stream, now));
    if (reading.length === 0) return 0;

    // Read first: the next statement sees all events up to these numbers.
    const last = await lastSequencesOf(db, [...new Set(reading.map(({ account }) => account))]);
    const lastOf = ({ account }: Stream) => last.get(account) ?? '0';
    const behind = reading.filter(
      (stream) =>
        stream.stuckSince === undefined &&
        BigInt(lastOf(stream)) > BigInt(stream.after) &&
        (stream.aloneFrom ?? now) <= now,
    );
    const served = nextToRead(behind);
    if (served.length === 0) return 0;
    // They move to the end of the queue first, so that a failure does not make the others wait.
    for (const stream of served) if (streams.delete(stream)) streams.add(stream);

    const pages = await read(served);
    let unfinished = behind.length - served.length;
    for (const [i, stream] of served.entries()) {
      const page = pages[i];
      if (page === undefined) continue;
      const isWhole = writePage(stream, page) && page.events.length < EVENTS_AT_ONCE;
      if (isWhole) stream.after = later(stream.after, lastOf(stream));
      // A client that reads slowly wakes the worker when it has read.
      else if (stream.stuckSince === undefined && streams.has(stream)) unfinished += 1;
    }
    return unfinished;
  }

  /** The streams that are read next: the first alone after a failure, otherwise as many as one statement takes. */
  function nextToRead(behind: readonly Stream[]): Stream[] {
    const [first] = behind;
    return first?.aloneFrom === undefined
      ? behind.filter(({ aloneFrom }) => aloneFrom === undefined).slice(0, FOLLOWERS_AT_ONCE)
      : [first];
  }

  /** Reads their pages. After a failure each is read alone, to find the one that fails. */
  async function read(served: readonly Stream[]): Promise<readonly EventPage[]> {
    try {
      const pages = await eventsForFollowers(db, served, EVENTS_AT_ONCE);
      for (const stream of served) stream.aloneFrom = undefined;
      return pages;
    } catch (error) {
      const [first] = served;
      const wasAlone = first?.aloneFrom !== undefined;
      const from = performance.now() + (wasAlone ? UNREADABLE_MS : 0);
      for (const stream of served) stream.aloneFrom = from;
      if (!wasAlone) throw error;
      logger.error(
        { account: first?.account, reason: reason(error) },
        'the events of a stream cannot be read',
      );
      return [];
    }
  }

  /** Tells the client when the events after its last one were pruned. */
  function writeGap(stream: Stream, firstSequence: string): void {
    if (BigInt(stream.after) + 1n >= BigInt(firstSequence)) return;
    write(stream, gapFrame(stream.after, firstSequence));
    stream.after = String(BigInt(firstSequence) - 1n);
    stream.sentId = stream.after;
  }

  /** Ends streams that are over or stuck, and writes heartbeats. Returns whether more can be written now. */
  function keepAlive(stream: Stream, now: number): boolean {
    const { res, stuckSince } = stream;
    if (res.destroyed) return false;
    if (stuckSince !== undefined) {
      if (now - stuckSince >= limits.stuckMs) {
        logger.info({ account: stream.account }, 'ended a stream that nobody reads');
        res.destroy();
      }
      return false;
    }
    if (now >= stream.endsAt) {
      // It counts until the client has read its end.
      stream.stuckSince = now;
      res.end();
      return false;
    }
    if (now >= stream.beatAt) {
      stream.beatAt = now + limits.beatEveryMs;
      write(stream, beatFrame(stream.after === stream.sentId ? undefined : stream.after));
      stream.sentId = stream.after;
    }
    return stream.stuckSince === undefined;
  }

  /** Writes the events that fit into one page. Returns whether those were all. */
  function writePage(stream: Stream, { firstSequence, events }: EventPage): boolean {
    const { res } = stream;
    if (res.destroyed || res.writableEnded) return false;
    writeGap(stream, firstSequence);
    let text = '';
    let written = 0;
    for (const event of events) {
      if (text.length >= PAGE_CHARACTERS) break;
      text += eventFrame(event);
      written += 1;
    }
    const last = events[written - 1];
    if (last !== undefined) {
      // One large write: several small ones may never fill the socket's buffer, and then it reports no drain.
      write(stream, text);
      stream.after = last.sequence;
      stream.sentId = last.sequence;
    }
    return written === events.length;
  }

  return {
    open(res, follower) {
      // The client has disconnected: `close` is not emitted again, and the stream would count for ever.
      if (res.destroyed) return undefined;
      const refused = refusal(follower.account);
      if (refused !== undefined) return refused;
      const now = performance.now();
      const stream: Stream = {
        ...follower,
        res,
        sentId: follower.after,
        endsAt: now + limits.lastsMs * (1 - Math.random() * ENDS_EARLIER_AT_MOST),
        beatAt: now + limits.beatEveryMs,
        stuckSince: undefined,
        aloneFrom: undefined,
      };
      streams.add(stream);
      res.on('close', () => streams.delete(stream));
      res.writeHead(200, headers);
      write(stream, openingFrame(follower.after));
      worker.wake();
      return undefined;
    },
    wake: worker.wake,
    async close() {
      closing = true;
      for (const { res } of streams) res.end();
      await worker.stop();
    },
  };
}
