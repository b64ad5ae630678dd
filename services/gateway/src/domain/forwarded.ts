import { withoutSession } from './session.ts';

/** Between two neighbours only (RFC 9110, 7.6.1), together with what the Connection header names. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** What only the gateway may say, or what it has dealt with itself. */
const own = [
  'authorization',
  'baggage',
  'content-length',
  'expect',
  'forwarded',
  'quittance-account',
  // A client's trace is not ours: services find the trace of a payment by its id.
  'traceparent',
  'tracestate',
  'x-quittance-identity',
  'x-real-ip',
  'x-request-id',
];

const dropped = new Set([...hopByHop, ...own]);

type Headers = Record<string, string | string[] | undefined>;

/** The headers of a client's request that a service gets to see. Names are in lower case. */
export function forwardedHeaders(given: Readonly<Headers>): Headers {
  const connection = String(given['connection'] ?? '').toLowerCase();
  const named = connection.split(',').map((name) => name.trim());
  const passes = (name: string) =>
    !dropped.has(name) && !name.startsWith('x-forwarded-') && !named.includes(name);
  const { cookie, ...headers } = Object.fromEntries(Object.entries(given).filter(([name]) => passes(name)));
  // No service gets to see a session: who has its cookie is the person.
  const others = withoutSession(String(cookie ?? ''));
  return others === undefined ? headers : { ...headers, cookie: others };
}

const keptBack = new Set([...hopByHop, 'content-length', 'x-request-id']);

/** Whether a header of a service's answer goes on to the client. The name is in lower case. */
export function isReturned(name: string): boolean {
  return !keptBack.has(name) && !name.startsWith('x-ratelimit-') && !name.startsWith('ratelimit');
}
