import { expect, test } from '@jest/globals';
import { forwardedHeaders, isReturned } from './forwarded.ts';

test('what a client wants to tell the service goes on as it is', () => {
  const headers = { host: 'shop.example', accept: 'application/json', 'idempotency-key': 'a', cookie: 'b=c' };
  expect(forwardedHeaders(headers)).toEqual(headers);
});

test('what is meant for the next neighbour, for the gateway, or is its to say stays behind', () => {
  const headers = forwardedHeaders({
    accept: '*/*',
    authorization: 'Bearer secret',
    'x-quittance-identity': 'forged',
    'x-request-id': 'mine',
    'quittance-account': 'acc_1',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    tracestate: 'vendor=1',
    baggage: 'a=b',
    'x-forwarded-for': '10.0.0.1',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-anything': '1',
    forwarded: 'for=10.0.0.1',
    'x-real-ip': '10.0.0.1',
    connection: 'X-Secret-Hop , close',
    'x-secret-hop': '1',
    'keep-alive': 'timeout=5',
    'proxy-authenticate': 'Basic',
    trailer: 'x-checksum',
    'transfer-encoding': 'chunked',
    'content-length': '5',
    te: 'trailers',
    upgrade: 'websocket',
    expect: '100-continue',
    'proxy-authorization': 'Basic x',
    'proxy-connection': 'keep-alive',
  });
  expect(headers).toEqual({ accept: '*/*' });
});

test('a service never sees the cookie of a session', () => {
  const session = `__Host-quittance_session=${'x'.repeat(43)}`;
  expect(forwardedHeaders({ accept: '*/*', cookie: session })).toStrictEqual({ accept: '*/*' });
  expect(forwardedHeaders({ cookie: `b=c; ${session}` })).toStrictEqual({ cookie: 'b=c' });
  expect(forwardedHeaders({ accept: '*/*' })).toStrictEqual({ accept: '*/*' });
});

test('an answer comes back without what the gateway says itself', () => {
  const names = ['content-type', 'etag', 'set-cookie', 'retry-after', 'idempotent-replayed', 'date'];
  const hops = ['connection', 'keep-alive', 'proxy-authenticate', 'trailer', 'transfer-encoding'];
  const kept = [...hops, 'content-length', 'x-request-id', 'x-ratelimit-limit', 'ratelimit-policy'];
  expect(names.every(isReturned)).toBe(true);
  expect(kept.some(isReturned)).toBe(false);
});
