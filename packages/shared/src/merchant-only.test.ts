import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from './clock.ts';
import { newGatewayKeys, readPublicKeys, readSigningKey } from './gateway-keys.ts';
import { contextOf, createApp, finishApp, readBody, takesNothing } from './http.ts';
import { send } from './http-answers.ts';
import { type Listening, listen } from './http-server.ts';
import { IDENTITY_HEADER, signIdentity } from './identity.ts';
import type { AccountId } from './ids.ts';
import { createLogger } from './logger.ts';
import { merchantOnly } from './merchant-only.ts';
import { invariant } from './result.ts';

/** What a service lets through of requests that the gateway has signed, and of those that it has not. */

const { privateKey, publicKey } = newGatewayKeys();
const [signing, keys] = [readSigningKey(privateKey), readPublicKeys(publicKey)];
invariant(signing !== undefined && keys !== undefined, 'new keys can be read');
let server: Listening;
let base: string;

beforeAll(async () => {
  const logger = createLogger('test', 'silent');
  const app = createApp({ logger, clock: systemClock, waitsFor: async () => [] });
  const merchant = merchantOnly('payouts', keys, systemClock);
  app.get('/api/payouts/:id', merchant, (_req, res) =>
    send(res, { status: 200, body: contextOf(res).identity }),
  );
  app.post('/api/payouts', merchant, ...readBody, (_req, res) => {
    const { identity, assertionId, body } = contextOf(res);
    send(res, { status: 200, body: { ...identity, assertionId, body } });
  });
  app.delete('/api/payouts/:id', merchant, ...takesNothing, (_req, res) =>
    send(res, { status: 200, body: {} }),
  );
  finishApp(app, logger);
  server = await listen(app, '127.0.0.1', 0);
  base = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.close(1_000));

type Sent = { method: string; path: string; body?: string; headers?: Record<string, string> };
type Signed = { receiver: 'payouts' | 'ledger'; body: string; agoMs: number } & Omit<
  Sent,
  'headers' | 'body'
>;

/** Sends a request with an assertion of it, or of another one. */
const ask = async ({ method, path, body = '', headers = {} }: Sent, other: Partial<Signed> = {}) => {
  const signed = { receiver: 'payouts', method, path, body, agoMs: 0, ...other } as const;
  const at = new Date(Date.now() - signed.agoMs);
  const identity = { account: 'acc_1' as AccountId, scopes: ['payouts:write'] };
  const header = signIdentity(signing, identity, { ...signed, body: Buffer.from(signed.body) }, at);
  const answer = await fetch(base + path, {
    method,
    headers: { [IDENTITY_HEADER]: header, ...headers },
    ...(body === '' ? {} : { body }),
  });
  const retryAfter = answer.headers.get('retry-after');
  return { status: answer.status, body: (await answer.json()) as object, retryAfter };
};

const post: Sent = {
  method: 'POST',
  path: '/api/payouts?a=%20é'.replace('é', '%C3%A9'),
  body: '{"amount":1.10}',
};
const get: Sent = { method: 'GET', path: '/api/payouts/7?x=1' };

test('a signed request is let through, and knows its account, its scopes and the id of its assertion', async () => {
  const identity = { account: 'acc_1', scopes: ['payouts:write'] };
  expect(await ask(post)).toMatchObject({
    status: 200,
    body: { ...identity, assertionId: expect.stringMatching(/^asr_/), body: { amount: expect.anything() } },
  });
  expect(await ask(get)).toMatchObject({ status: 200, body: identity });
  for (const [method, path] of [
    ['DELETE', '/api/payouts/7'],
    ['POST', '/api/payouts'],
  ] as const)
    expect(await ask({ method, path })).toMatchObject({ status: 200 });
});

test.each<[string, Sent, Partial<Signed>]>([
  ['another service', post, { receiver: 'ledger' }],
  ['another method', get, { method: 'DELETE' }],
  ['another path', get, { path: '/api/payouts/8?x=1' }],
  ['another query', get, { path: '/api/payouts/7?x=2' }],
  ['a request without its query', get, { path: '/api/payouts/7' }],
  ['another body', post, { body: '{"amount":1.1}' }],
  ['a request without a body', post, { body: '' }],
  ['a request with a body', { method: 'DELETE', path: '/api/payouts/7' }, { body: '{}' }],
])('an assertion of %s lets none through', async (_what, sent, signed) => {
  expect(await ask(sent, signed)).toMatchObject({ status: 401, body: { message: 'Unauthenticated.' } });
});

test('the body of a request that is not signed is not read', async () => {
  const body = 'x'.repeat(100_000);
  const sent = { ...post, body };
  expect((await ask(sent, { receiver: 'ledger' })).status).toBe(401);
  expect((await ask(sent)).status).toBe(413);
});

test('a request that was held up on its way is not begun: 503, as its client has a right token', async () => {
  expect((await ask(get, { agoMs: 9_000 })).status).toBe(200);
  for (const agoMs of [13_000, -10_000]) {
    const message = 'Service Unavailable';
    const retryAfter = expect.any(String);
    expect(await ask(get, { agoMs })).toMatchObject({ status: 503, body: { message }, retryAfter });
  }
});
