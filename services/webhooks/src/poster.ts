import { errors } from 'undici';
import { type Connection, type Connections, openConnections } from './connections.ts';
import type { Failure, Posted } from './domain/outcome.ts';
import { type JudgeOptions, judgeOf, NotResolved, PrivateAddress, type Resolve } from './judged-addresses.ts';

const ATTEMPT_TIMEOUT_MS = 15_000;
const EXCERPT_BYTES_MAX = 1_024;

export type Order = { url: string; headers: Record<string, string>; body: string };

/** Sends one POST and tells what came of it; it never throws, follows, retries or unpacks anything. */
export type Poster = {
  post(order: Order): Promise<Posted>;
  /** Ends everything that is under way, as `stopped`. */
  close(): Promise<void>;
};

/** With `publicOnly` nothing is sent but over TLS, and to public addresses, which are judged at each attempt. */
export type PosterOptions = JudgeOptions & {
  timeoutMs?: number;
  /** Tests only: certificates to trust instead of the public ones. */
  ca?: string;
};

export function createPoster({ ca, timeoutMs = ATTEMPT_TIMEOUT_MS, ...options }: PosterOptions): Poster {
  const judge = judgeOf(options);
  const connections = openConnections(judge, ca);
  const { publicOnly } = options;
  const underWay = new Set<() => void>();
  let isClosed = false;

  return {
    post(order) {
      // Nothing else is registered; what stands in the database is not trusted to be what was registered.
      const target = URL.parse(order.url);
      if (target === null || !/^https?:$/.test(target.protocol)) return failed('not_connected');
      if (publicOnly && target.protocol !== 'https:') return failed('not_secure');
      if (isClosed) return Promise.resolve({ kind: 'stopped' });
      return new Promise((resolve) => {
        const stop = attempt({ judge, connections }, target, order, timeoutMs, (posted) => {
          underWay.delete(stop);
          resolve(posted);
        });
        underWay.add(stop);
      });
    },
    async close() {
      isClosed = true;
      for (const stop of underWay) stop();
      await connections.close();
    },
  };
}

const failed = (failure: Failure): Promise<Posted> => Promise.resolve({ kind: 'failed', failure });

/**
 * One attempt, from the question where the name leads to the end of the answer; `done` is told once, and never before
 * this returns. What is returned stops it.
 */
function attempt(
  { judge, connections }: { judge: Resolve; connections: Connections },
  { hostname, origin, pathname, search }: URL,
  { headers, body }: Order,
  timeoutMs: number,
  done: (posted: Posted) => void,
): () => void {
  let connection: Connection | undefined;
  let isSent = false;
  let isOver = false;
  let answer: { status: number; retryAfter: string | undefined } | undefined;
  let received = 0;
  const excerpt: Buffer[] = [];

  const finish = (posted: Posted) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    done(posted);
  };
  // Once there is a status, it is the answer, whatever happens to the rest.
  const finishWith = (otherwise: Posted) =>
    finish(answer ? { kind: 'answered', ...answer, excerpt: textOf(excerpt) } : otherwise);
  const cutOff = (otherwise: Posted) => {
    finishWith(otherwise);
    if (connection !== undefined) connections.end(connection);
  };
  const fail = (error: Error) => cutOff({ kind: 'failed', failure: failureOf(error, isSent) });
  const timer = setTimeout(() => cutOff({ kind: 'failed', failure: 'timed_out' }), timeoutMs);

  judge(hostname).then((addresses) => {
    // The time was up before the name was known: what was given up must not be sent now.
    if (isOver) return;
    const taken = connections.take(origin, addresses);
    connection = taken;
    taken.client.dispatch(
      { path: `${pathname}${search}`, method: 'POST', headers, body },
      {
        onRequestStart() {
          isSent = true;
        },
        onResponseStart(_, status, given) {
          if (status < 200) return;
          const retryAfter = given['retry-after'];
          answer = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined };
          connections.answered(taken);
        },
        onResponseData(_, chunk) {
          if (received < EXCERPT_BYTES_MAX)
            excerpt.push(Buffer.from(chunk.subarray(0, EXCERPT_BYTES_MAX - received)));
          received += chunk.length;
        },
        onResponseEnd() {
          if (isOver) return;
          finishWith({ kind: 'failed', failure: 'broken_off' });
          connections.keep(taken);
        },
        onResponseError: (_, error) => fail(error),
      },
    );
  }, fail);
  return () => cutOff({ kind: 'stopped' });
}

/** Postgres stores no NUL; a character cut in two becomes U+FFFD. */
const textOf = (chunks: readonly Buffer[]): string =>
  Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\ufffd');

function failureOf(error: Error, isSent: boolean): Failure {
  if (error instanceof PrivateAddress) return 'private_address';
  if (error instanceof NotResolved) return 'not_resolved';
  if (error instanceof errors.HeadersOverflowError) return 'headers_too_large';
  if (error instanceof errors.ConnectTimeoutError) return 'timed_out';
  return isSent ? 'broken_off' : 'not_connected';
}
