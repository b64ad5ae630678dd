import type { ServerResponse } from 'node:http';
import { withBatchPause } from '@quittance/shared/batch-pause';
import type { Db } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { type Logger, reason } from '@quittance/shared/logger';
import { startWorker, type Worker } from '@quittance/shared/worker';
import { beatFrame, eventFrame, gapFrame, later, openingFrame } from './domain/envelope.ts';
import { eventsForFollowers, type Follower, type Page, sequenceRangesOf } from './store/events.ts';

/** What a replica's streams may cost. */
export const streamLimits = {
  perAccount: 10,
  perReplica: 1_000,
  /** Then the client comes back, with a token that must still be good. */
  lastsMs: 10 * 60_000,
  beatEveryMs: 15_000,
  /** Who reads nothing for so long is not there any more. */
  stuckMs: 30_000,
  lookEveryMs: 500,
};

export type StreamRefusal = 'too_many_of_account' | 'too_many' | 'closing';

export type EventStreams = {
  /** Writes the log after a number, and then what happens, until one of the two sides ends it; or says why not. */
  open(res: ServerResponse, follower: Follower): StreamRefusal | undefined;
  /** Something was stored. */
  wake(): void;
  /** Ends all streams, which their clients will open again elsewhere, and opens no more. */
  close(): Promise<void>;
};

type Stream = {
  res: ServerResponse;
  account: AccountId;
  eventTypes: readonly string[] | null;
  /** Up to where the log was written out, or held nothing that was asked for. */
  after: string;
  /** Up to where the client knows that. */
  told: string;
  endsAt: number;
  beatAt: number;
  /** Since when nothing more goes out; of one that has ended, since then. */
  stuckSince: number | undefined;
  /** It could not be read together with others: once by itself, and not before that time. */
  aloneFrom: number | undefined;
};

const FOLLOWERS_AT_ONCE = 50;
const EVENTS_AT_ONCE = 32;
/** Between two tries with what could not be read by itself either. */
const UNREADABLE_MS = 60_000;
/** A page is full with the event that passes this. */
const PAGE_CHARACTERS = 64_000;
/** They end a little apart, so that those that began together do not come back together for ever. */
const ENDS_EARLIER_AT_MOST = 0.1;

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** The headers alone: what HEAD is answered. */
export function answerHead(res: ServerResponse): void {
  res.writeHead(200, headers).end();
}

/**
 * All streams of this replica. One loop looks twice a second how far the logs of their accounts have come, and reads
 * what is new from the log itself: nothing that happens is handed on from memory, so nothing can be missed or come
 * in another order. A stream holds no more than the page that its client is about to read.
 */
export function createEventStreams(
  { db, logger }: { db: Db; logger: Logger },
  limits: typeof streamLimits = streamLimits,
): EventStreams {
  const streams = new Set<Stream>();
  let worker: Worker | undefined;
  let stopped = Promise.resolve();
  let closing = false;

  function refusal(account: AccountId): StreamRefusal | undefined {
    if (closing) return 'closing';
    if (streams.size >= limits.perReplica) return 'too_many';
    let own = 0;
    for (const stream of streams) if (stream.account === account) own += 1;
    return own >= limits.perAccount ? 'too_many_of_account' : undefined;
  }

  /** Streams are looked after while there are any. */
  function lookAfter(): void {
    worker ??= startWorker({
      name: 'event streams',
      everyMs: limits.lookEveryMs,
      step: () => withBatchPause(step, (more) => more > 0),
      logger,
    });
    worker.wake();
  }

  function remove(stream: Stream): void {
    streams.delete(stream);
    if (streams.size > 0 || worker === undefined) return;
    const idle = worker;
    stopped = stopped.then(() => idle.stop());
    worker = undefined;
  }

  function write(stream: Stream, text: string): void {
    if (stream.res.write(text)) return;
    stream.stuckSince = performance.now();
    stream.res.once('drain', () => {
      stream.stuckSince = undefined;
      worker?.wake();
    });
  }

  async function step(): Promise<number> {
    const now = performance.now();
    const reading: Stream[] = [];
    for (const stream of streams) if (attend(stream, now)) reading.push(stream);
    if (reading.length === 0) return 0;

    // Read first: all events up to these numbers are there to be seen by the next statement.
    const ranges = await sequenceRangesOf(db, [...new Set(reading.map(({ account }) => account))]);
    const lastOf = ({ account }: Stream) => ranges.get(account)?.lastSequence ?? '0';
    const behind = reading.filter(
      (stream) =>
        stream.stuckSince === undefined &&
        BigInt(lastOf(stream)) > BigInt(stream.after) &&
        (stream.aloneFrom ?? now) <= now,
    );
    const served = together(behind);
    if (served.length === 0) return 0;
    // To the end of the queue, whatever becomes of them now: who cannot be read does not keep the others waiting.
    for (const stream of served) if (streams.delete(stream)) streams.add(stream);

    const pages = await read(served);
    let unfinished = behind.length - served.length;
    for (const [i, stream] of served.entries()) {
      const page = pages[i];
      if (page === undefined) continue;
      const isWhole = tell(stream, page) && page.events.length < EVENTS_AT_ONCE;
      if (isWhole) stream.after = later(stream.after, lastOf(stream));
      // Whoever cannot take more now calls when it can.
      else if (stream.stuckSince === undefined && streams.has(stream)) unfinished += 1;
    }
    return unfinished;
  }

  /** The next of those that are behind: the first of one account if it is read by itself, else as many as go together. */
  function together(behind: readonly Stream[]): Stream[] {
    const [first] = behind;
    return first?.aloneFrom === undefined
      ? behind.filter(({ aloneFrom }) => aloneFrom === undefined).slice(0, FOLLOWERS_AT_ONCE)
      : [first];
  }

  /** Their pages. What cannot be read together is read one by one from then on, so that it is known whose fault it is. */
  async function read(served: readonly Stream[]): Promise<readonly Page[]> {
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

  /** Says so when what comes next for a client is kept no longer, before anything of what is. */
  function tellGap(stream: Stream, firstSequence: string): void {
    if (BigInt(stream.after) + 1n >= BigInt(firstSequence)) return;
    write(stream, gapFrame(stream.after, firstSequence));
    stream.after = String(BigInt(firstSequence) - 1n);
    stream.told = stream.after;
  }

  /** Ends what has to end, gives a sign of life; false for whom nothing more can be written now. */
  function attend(stream: Stream, now: number): boolean {
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
      // Until its last words are taken it has its place.
      stream.stuckSince = now;
      res.end();
      return false;
    }
    if (now >= stream.beatAt) {
      stream.beatAt = now + limits.beatEveryMs;
      write(stream, beatFrame(stream.after === stream.told ? undefined : stream.after));
      stream.told = stream.after;
    }
    return stream.stuckSince === undefined;
  }

  /** Writes as many of the events as go into one page; whether that was all of them. */
  function tell(stream: Stream, { firstSequence, events }: Page): boolean {
    const { res } = stream;
    if (res.destroyed || res.writableEnded) return false;
    tellGap(stream, firstSequence);
    let text = '';
    let written = 0;
    for (const event of events) {
      if (text.length >= PAGE_CHARACTERS) break;
      text += eventFrame(event);
      written += 1;
    }
    const last = events[written - 1];
    if (last !== undefined) {
      // In one piece: of several, none may be large enough for the socket to say when it has room again.
      write(stream, text);
      stream.after = last.sequence;
      stream.told = last.sequence;
    }
    return written === events.length;
  }

  return {
    open(res, { account, after, eventTypes }) {
      // Its client has gone already, and `close` will not be heard again: it would keep its place for ever.
      if (res.destroyed) return undefined;
      const refused = refusal(account);
      if (refused !== undefined) return refused;
      const now = performance.now();
      const lastsMs = limits.lastsMs * (1 - Math.random() * ENDS_EARLIER_AT_MOST);
      const beatAt = now + limits.beatEveryMs;
      const stream: Stream = {
        ...{ res, account, eventTypes, after, told: after },
        ...{ endsAt: now + lastsMs, beatAt },
        ...{ stuckSince: undefined, aloneFrom: undefined },
      };
      streams.add(stream);
      res.on('close', () => remove(stream));
      res.writeHead(200, headers);
      write(stream, openingFrame(after));
      lookAfter();
      return undefined;
    },
    wake: () => worker?.wake(),
    async close() {
      closing = true;
      for (const { res } of streams) res.end();
      await Promise.all([worker?.stop(), stopped]);
    },
  };
}
