import type { LookupAddress } from 'node:dns';
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, errors } from 'undici';
import type { Failure, Posted } from './domain/outcome.ts';
import { isPublicAddress, literalOf } from './public-address.ts';

const ATTEMPT_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;
const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;
const HEADER_BYTES_MAX = 16 * 1024;
const BODY_BYTES_MAX = 64 * 1024;
const EXCERPT_BYTES_MAX = 1_024;
/** A connection is used this long at most, so that a name which has moved is soon followed. */
const CONNECTION_MS_MAX = 60_000;

export type Order = { url: string; headers: Record<string, string>; body: string };

/** Sends one POST and tells what came of it; it never throws, follows, retries or unpacks anything. */
export type Poster = {
  post(order: Order): Promise<Posted>;
  /** Ends everything that is under way, as `stopped`. */
  close(): Promise<void>;
};

/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

export type PosterOptions = {
  /** Only public addresses, judged before each connection. */
  publicOnly: boolean;
  timeoutMs?: number;
  resolve?: Resolve;
  /** Certificates to trust instead of the public ones. */
  ca?: string;
};

class PrivateAddress extends Error {
  constructor(hostname: string) {
    super(`${hostname} is not on the public internet`);
    this.name = 'PrivateAddress';
  }
}

class NotResolved extends Error {
  constructor(hostname: string, options?: ErrorOptions) {
    super(`${hostname} has no address`, options);
    this.name = 'NotResolved';
  }
}

export function createPoster(options: PosterOptions): Poster {
  const agent = new Agent({
    connect: connectorOf(options),
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: HEADER_BYTES_MAX,
    clientTtl: CONNECTION_MS_MAX,
    keepAliveMaxTimeout: CONNECTION_MS_MAX,
    // The whole attempt has one limit, kept below.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const timeoutMs = options.timeoutMs ?? ATTEMPT_TIMEOUT_MS;
  return {
    post: (order) => post(agent, order, timeoutMs),
    close: () => agent.destroy(),
  };
}

function post(agent: Agent, { url, headers, body }: Order, timeoutMs: number): Promise<Posted> {
  return new Promise((resolve) => {
    const { origin, pathname, search } = new URL(url);
    let controller: Dispatcher.DispatchController | undefined;
    let answer: { status: number; retryAfter: string | undefined } | undefined;
    let ended = false;
    let received = 0;
    const excerpt: Buffer[] = [];

    const end = (posted: Posted) => {
      clearTimeout(timer);
      ended = true;
      resolve(posted);
    };
    // Once there is a status, it is the answer, whatever happens to the rest.
    const endWith = (failure: Posted) =>
      end(answer ? { kind: 'answered', ...answer, excerpt: textOf(excerpt) } : failure);
    const cutOff = (failure: Posted) => {
      endWith(failure);
      controller?.abort(new errors.RequestAbortedError());
    };
    const timer = setTimeout(() => cutOff({ kind: 'failed', failure: 'timed_out' }), timeoutMs);

    agent.dispatch(
      { origin, path: `${pathname}${search}`, method: 'POST', headers, body },
      {
        onRequestStart(started) {
          controller = started;
          // The time was up before there was a connection: what was given up must not be sent now.
          if (ended) started.abort(new errors.RequestAbortedError());
        },
        onResponseStart(_, status, given) {
          if (status < 200) return;
          const retryAfter = given['retry-after'];
          answer = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined };
        },
        onResponseData(_, chunk) {
          if (received < EXCERPT_BYTES_MAX)
            excerpt.push(Buffer.from(chunk.subarray(0, EXCERPT_BYTES_MAX - received)));
          received += chunk.length;
          if (received > BODY_BYTES_MAX) cutOff({ kind: 'failed', failure: 'broken_off' });
        },
        onResponseEnd: () => endWith({ kind: 'failed', failure: 'broken_off' }),
        onResponseError: (_, error) => endWith(outcomeOf(error, controller !== undefined)),
      },
    );
  });
}

/** Postgres stores no NUL; a character cut in two becomes U+FFFD. */
const textOf = (chunks: readonly Buffer[]): string =>
  Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\ufffd');

function outcomeOf(error: Error, started: boolean): Posted {
  if (error instanceof errors.ClientDestroyedError || error instanceof errors.ClientClosedError) {
    return { kind: 'stopped' };
  }
  return { kind: 'failed', failure: failureOf(error, started) };
}

function failureOf(error: Error, started: boolean): Failure {
  if (error instanceof PrivateAddress) return 'private_address';
  if (error instanceof NotResolved) return 'not_resolved';
  if (error instanceof errors.HeadersOverflowError) return 'headers_too_large';
  if (error instanceof errors.ConnectTimeoutError) return 'timed_out';
  return started ? 'broken_off' : 'not_connected';
}

function connectorOf({ publicOnly, resolve, ca }: PosterOptions): buildConnector.connector {
  const resolveName =
    resolve ?? (publicOnly ? fromDns() : (hostname) => systemLookup(hostname, { all: true }));
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolveName(hostname).then(
      (addresses) => {
        const [first] = addresses;
        const secret = publicOnly && !addresses.every(({ address }) => isPublicAddress(address));
        if (first === undefined) callback(new NotResolved(hostname), '', 0);
        else if (secret) callback(new PrivateAddress(hostname), '', 0);
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(new NotResolved(hostname, { cause: error }), '', 0),
    );
  };
  const connect = buildConnector({
    allowH2: false,
    timeout: CONNECT_TIMEOUT_MS,
    lookup,
    // Whatever the environment of the process says.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  });
  return (options, callback) => {
    // An address in the URL is connected to without a lookup, so it is judged here.
    const literal = literalOf(options.hostname);
    if (publicOnly && literal !== undefined && !isPublicAddress(literal)) {
      callback(new PrivateAddress(options.hostname), null);
    } else connect(options, callback);
  };
}

/**
 * Asks DNS itself, not the system's resolver: that one knows names of this machine's network, and its few
 * threads would be taken by names whose servers do not answer.
 */
function fromDns(): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    return found;
  };
}
