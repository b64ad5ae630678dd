import { errors } from 'undici';
import { type Connection, type Connections, openConnections } from './connections.ts';
import type { Failure, SendResult } from './domain/outcome.ts';
import {
  type AddressGuardOptions,
  createAddressGuard,
  NotResolvedError,
  PrivateAddressError,
  type Resolve,
} from './public-address-guard.ts';

const ATTEMPT_TIMEOUT_MS = 15_000;
const EXCERPT_BYTES_MAX = 1_024;

export type WebhookRequest = { url: string; headers: Record<string, string>; body: string };

/** Sends one POST and returns its result. It never throws, follows a redirect, retries or decompresses. */
export type WebhookSender = {
  send(request: WebhookRequest): Promise<SendResult>;
  /** Ends all attempts in flight, as `stopped`. */
  close(): Promise<void>;
};

/** With `publicOnly` everything is sent over TLS and to public addresses, which are checked at each attempt. */
export type WebhookSenderOptions = AddressGuardOptions & {
  timeoutMs?: number;
  /** Tests only: certificates to trust instead of the public ones. */
  ca?: string;
};

export function createWebhookSender({
  ca,
  timeoutMs = ATTEMPT_TIMEOUT_MS,
  ...options
}: WebhookSenderOptions): WebhookSender {
  const guard = createAddressGuard(options);
  const connections = openConnections(guard, ca);
  const { publicOnly } = options;
  const inFlight = new Set<() => void>();
  let isClosed = false;

  return {
    send(request) {
      // Registration checks this too; the content of the database is not trusted.
      const target = URL.parse(request.url);
      if (target === null || !/^https?:$/.test(target.protocol)) return failed('not_connected');
      if (publicOnly && target.protocol !== 'https:') return failed('not_secure');
      if (isClosed) return Promise.resolve({ kind: 'stopped' });
      return new Promise((resolve) => {
        const stop = attempt({ guard, connections }, target, request, timeoutMs, (result) => {
          inFlight.delete(stop);
          resolve(result);
        });
        inFlight.add(stop);
      });
    },
    async close() {
      isClosed = true;
      for (const stop of inFlight) stop();
      await connections.close();
    },
  };
}

const failed = (failure: Failure): Promise<SendResult> => Promise.resolve({ kind: 'failed', failure });

/**
 * One attempt, from resolving the name to the end of the answer. `done` is called once, and never before this returns.
 * The returned function stops the attempt.
 */
function attempt(
  { guard, connections }: { guard: Resolve; connections: Connections },
  { hostname, origin, pathname, search }: URL,
  { headers, body }: WebhookRequest,
  timeoutMs: number,
  done: (result: SendResult) => void,
): () => void {
  let connection: Connection | undefined;
  let isSent = false;
  let isOver = false;
  let answer: { status: number; retryAfter: string | undefined } | undefined;
  let received = 0;
  const excerpt: Buffer[] = [];

  const finish = (result: SendResult) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    done(result);
  };
  // A status that was received is the answer, even when the rest of it fails.
  const finishWith = (otherwise: SendResult) =>
    finish(answer ? { kind: 'answered', ...answer, excerpt: textOf(excerpt) } : otherwise);
  const cutOff = (otherwise: SendResult) => {
    finishWith(otherwise);
    if (connection !== undefined) connections.end(connection);
  };
  const fail = (error: Error) => cutOff({ kind: 'failed', failure: failureOf(error, isSent) });
  const timer = setTimeout(() => cutOff({ kind: 'failed', failure: 'timed_out' }), timeoutMs);

  guard(hostname).then((addresses) => {
    // The attempt timed out while the name was resolved: it must not be sent now.
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

/** Postgres cannot store NUL. A truncated character becomes U+FFFD. */
const textOf = (chunks: readonly Buffer[]): string =>
  Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\ufffd');

function failureOf(error: Error, isSent: boolean): Failure {
  if (error instanceof PrivateAddressError) return 'private_address';
  if (error instanceof NotResolvedError) return 'not_resolved';
  if (error instanceof errors.HeadersOverflowError) return 'headers_too_large';
  if (error instanceof errors.ConnectTimeoutError) return 'timed_out';
  return isSent ? 'broken_off' : 'not_connected';
}
