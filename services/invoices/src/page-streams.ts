import type { ServerResponse } from 'node:http';
import { type Clock, sleep } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import { startWorker } from '@quittance/shared/worker';
import { pageVersions, type ReadChains } from './store/page-versions.ts';

/** Limits of the streams of a replica; how many there may be is a setting. */
export const pageStreamLimits = {
  /** Whoever has the address of a page takes no streams of other pages. */
  perInvoice: 50,
  /** Then the browser opens a new one. */
  lastsMs: 10 * 60_000,
  /** Shorter than proxies keep a connection on which nothing is sent. */
  beatEveryMs: 25_000,
  /** A client that does not read the end of its stream is disconnected. */
  stuckMs: 30_000,
  lookEveryMs: 1_000,
};

export type PageStreamRefusal = 'too_many' | 'closing';

export type PageStreams = {
  /**
   * Writes `changed` whenever the page of the invoice shows something else, until one side ends the stream.
   * @param page its version now, and the one that the client has: when it is another one, `changed` is written at once
   * @returns a refusal
   */
  open(
    res: ServerResponse,
    page: { id: InvoiceId; version: string; known: string | undefined },
  ): PageStreamRefusal | undefined;
  /** How many are open. */
  count(): number;
  /** Ends all streams and opens no more. */
  close(): Promise<void>;
};

type Stream = { res: ServerResponse; endsAt: number; beatAt: number };

/** An invoice whose page somebody looks at. */
type Watched = { version: string; streams: Set<Stream> };

/** Streams that were opened together end at different times. */
const ENDS_EARLIER_AT_MOST = 0.2;
/** Of one statement. */
const READ_AT_ONCE = 2_000;
/** Reading takes at most this part of the time: with very many pages each hears of a change a little later. */
const READING_PART_MAX = 0.25;
/** Each page is loaded again: a block that changes all of them does not bring all requests in one moment. */
const CHANGES_AT_ONCE = 500;
const CHANGES_PAUSE_MS = 200;
/** How soon a browser reconnects; after a restart not all do at once. */
const RETRY_MS = 2_000;
const RETRY_MORE_MS = 8_000;

export const pageStreamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

const openingFrame = (version: string): string =>
  `retry: ${RETRY_MS + Math.floor(Math.random() * RETRY_MORE_MS)}\nid: ${version}\n\n`;
const changedFrame = (version: string): string => `id: ${version}\ndata: changed\n\n`;
const BEAT_FRAME = ':\n\n';

/**
 * The streams of a replica's payment pages. One loop reads each second, in one statement, what all pages that are looked at
 * would show; when nobody looks it reads nothing. Nothing is passed on in memory: it does not matter which replica or service
 * has changed an invoice.
 */
export function createPageStreams(
  { db, clock, chains, logger }: { db: Db; clock: Clock; chains: ReadChains; logger: Logger },
  max: number,
  limits: typeof pageStreamLimits = pageStreamLimits,
): PageStreams {
  const watched = new Map<InvoiceId, Watched>();
  const closed = new AbortController();
  let count = 0;

  /** A client takes a few bytes a minute: one for which the buffers are full does not read any more. */
  function write({ res }: Stream, text: string): void {
    if (!res.destroyed && !res.writableEnded && !res.write(text)) res.destroy();
  }

  function keepAlive(stream: Stream, now: number): void {
    const { res, endsAt, beatAt } = stream;
    if (now >= endsAt + limits.stuckMs) res.destroy();
    else if (now >= endsAt) res.end();
    else if (now >= beatAt) {
      stream.beatAt = now + limits.beatEveryMs;
      write(stream, BEAT_FRAME);
    }
  }

  async function tellChanges(ids: readonly InvoiceId[]): Promise<void> {
    const versions = await pageVersions(db, ids, clock.now(), chains);
    let told = 0;
    for (const [id, version] of versions) {
      const page = watched.get(id);
      if (page === undefined || page.version === version) continue;
      page.version = version;
      for (const stream of page.streams) write(stream, changedFrame(version));
      told += page.streams.size;
      if (told < CHANGES_AT_ONCE) continue;
      told = 0;
      await sleep(CHANGES_PAUSE_MS, closed.signal);
    }
  }

  async function step(): Promise<number> {
    const begun = performance.now();
    for (const { streams } of watched.values()) for (const stream of streams) keepAlive(stream, begun);
    const ids = [...watched.keys()];
    for (let i = 0; i < ids.length && !closed.signal.aborted; i += READ_AT_ONCE) {
      const beganMs = performance.now();
      await tellChanges(ids.slice(i, i + READ_AT_ONCE));
      const tookMs = performance.now() - beganMs;
      if (i + READ_AT_ONCE < ids.length) await sleep(tookMs / READING_PART_MAX - tookMs, closed.signal);
    }
    return 0;
  }

  const worker = startWorker({ name: 'page streams', everyMs: limits.lookEveryMs, step, logger });

  function forget(id: InvoiceId, stream: Stream): void {
    count -= 1;
    const page = watched.get(id);
    page?.streams.delete(stream);
    if (page?.streams.size === 0) watched.delete(id);
  }

  return {
    open(res, { id, version, known }) {
      // The client has disconnected: `close` is not emitted again, and the stream would count for ever.
      if (res.destroyed) return undefined;
      if (closed.signal.aborted) return 'closing';
      const page = watched.get(id) ?? { version, streams: new Set() };
      if (count >= max || page.streams.size >= limits.perInvoice) return 'too_many';
      const began = performance.now();
      const lastsMs = limits.lastsMs * (1 - Math.random() * ENDS_EARLIER_AT_MOST);
      const stream = { res, endsAt: began + lastsMs, beatAt: began + limits.beatEveryMs };
      page.streams.add(stream);
      watched.set(id, page);
      count += 1;
      res.once('close', () => forget(id, stream));
      res.writeHead(200, pageStreamHeaders);
      // Of two versions that were read at about the same time, who knows which is newer: the client looks itself.
      const isOther = known !== undefined && known !== page.version;
      write(stream, `${openingFrame(page.version)}${isOther ? changedFrame(page.version) : ''}`);
      return undefined;
    },
    count: () => count,
    async close() {
      closed.abort();
      for (const { streams } of watched.values()) for (const { res } of streams) res.end();
      await worker.stop();
    },
  };
}
