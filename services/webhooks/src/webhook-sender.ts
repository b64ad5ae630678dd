import { errors } from 'undici';
import { type Connection, openConnections } from './connections.ts';
import type { Failure, SendResult } from './domain/outcome.ts';
import { type AddressGuardOptions, createAddressGuard, HostRefused } from './public-address-guard.ts';

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

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { publicOnly, ca, timeoutMs = ATTEMPT_TIMEOUT_MS } = options;
  const guard = createAddressGuard(options);
  const connections = openConnections(guard, ca);
  const inFlight = new Set<() => void>();
  let isClosed = false;

  /** One attempt, from resolving the name to the end of the answer. */
  const attempt = ({ hostname, origin, pathname, search }: URL, { headers, body }: WebhookRequest) => {
    const { promise, resolve } = Promise.withResolvers<SendResult>();
    let connection: Connection | undefined;
    let isSent = false;
    let isOver = false;
    let answer: { status: number; retryAfter: string | undefined } | undefined;
    let received = 0;
    const excerpt: Buffer[] = [];

    // A status that was received is the answer, even when the rest of it fails.
    const finish = (otherwise: SendResult) => {
      isOver = true;
      clearTimeout(timer);
      inFlight.delete(stop);
      resolve(answer ? { kind: 'answered', ...answer, excerpt: textOf(excerpt) } : otherwise);
    };
    const cutOff = (otherwise: SendResult) => {
      finish(otherwise);
      if (connection !== undefined) connections.end(connection);
    };
    const fail = (error: Error) => cutOff({ kind: 'failed', failure: failureOf(error, isSent) });
    const stop = () => cutOff({ kind: 'stopped' });
    const timer = setTimeout(() => cutOff({ kind: 'failed', failure: 'timed_out' }), timeoutMs);
    inFlight.add(stop);

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
            finish({ kind: 'failed', failure: 'broken_off' });
            connections.keep(taken);
          },
          onResponseError: (_, error) => fail(error),
        },
      );
    }, fail);
    return promise;
  };

  return {
    async send(request) {
      // Registration checks this too; the content of the database is not trusted.
      const target = URL.parse(request.url);
      if (target === null || !/^https?:$/.test(target.protocol))
        return { kind: 'failed', failure: 'not_connected' };
      if (publicOnly && target.protocol !== 'https:') return { kind: 'failed', failure: 'not_secure' };
      return isClosed ? { kind: 'stopped' } : await attempt(target, request);
    },
    async close() {
      isClosed = true;
      for (const stop of inFlight) stop();
      await connections.close();
    },
  };
}

/** Postgres cannot store NUL. A truncated character becomes U+FFFD. */
const textOf = (chunks: readonly Buffer[]): string =>
  Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\ufffd');

function failureOf(error: Error, isSent: boolean): Failure {
  if (error instanceof HostRefused) return error.failure;
  if (error instanceof errors.HeadersOverflowError) return 'headers_too_large';
  if (error instanceof errors.ConnectTimeoutError) return 'timed_out';
  return isSent ? 'broken_off' : 'not_connected';
}
