import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from './clock.ts';
import { newGatewayKeys, readPublicKeys, readSigningKey } from './gateway-keys.ts';
import { contextOf, createApp, finishApp, nameRoute, readBody, readQuery, Unavailable } from './http.ts';
import { send } from './http-answers.ts';
import { type Listening, listen } from './http-server.ts';
import { readKey } from './idempotency.ts';
import { IDENTITY_HEADER, signIdentity } from './identity.ts';
import type { AccountId } from './ids.ts';
import { createLogger } from './logger.ts';
import { merchantOnly } from './merchant-only.ts';
import { invariant } from './result.ts';

const { privateKey, publicKey } = newGatewayKeys();
const [signing, keys] = [readSigningKey(privateKey), readPublicKeys(publicKey)];
invariant(signing !== undefined && keys !== undefined, 'new keys can be read');
const logger = createLogger('test', 'silent');
const parts = { logger, clock: systemClock, waitsFor: async () => [] };
let server: Listening;
let base: string;

beforeAll(async () => {
  const app = createApp(parts);
  app.get('/api/mine', merchantOnly('ledger', keys, systemClock), (_req, res) =>
    send(res, { status: 200, body: { mine: true } }),
  );
  app.post('/api/echo', merchantOnly('ledger', keys, systemClock), ...readBody, (req, res) => {
    const { identity, rawBody, body } = contextOf(res);
    const key = readKey(req.headers['idempotency-key'], identity.account, rawBody);
    send(res, { status: 200, body: { body: body ?? 'none', key } });
  });
  app.get('/api/things/:id', (req, res) => send(res, { status: 200, body: { id: req.params.id } }));
  finishApp(app, logger);
  server = await listen(app, '127.0.0.1', 0);
  base = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.close(1_000));

const signed = (method: string, path: string, body: string | Buffer = '') => ({
  [IDENTITY_HEADER]: signIdentity(
    signing,
    { account: 'acc_1' as AccountId },
    { receiver: 'ledger', method, path, body: Buffer.from(body) },
    new Date(),
  ),
});

const post = async (body: Buffer) => {
  const headers = { ...signed('POST', '/api/echo', body), 'Idempotency-Key': 'k' };
  const answer = await fetch(`${base}/api/echo`, { method: 'POST', headers, body: new Uint8Array(body) });
  return (await answer.json()) as { body: unknown; key: { bodyHash: string } };
};

test('a body that is no UTF-8 is like malformed JSON, one with a BOM or a repeated key too', async () => {
  expect((await post(Buffer.from('{"a":"é"}'))).body).toEqual({ a: 'é' });
  expect((await post(Buffer.from('{"a":"é"}', 'latin1'))).body).toEqual({
    hint: 'The body is not valid UTF-8.',
  });
  expect((await post(Buffer.from('\ufeff{}'))).body).toEqual({
    hint: expect.stringContaining('byte order mark'),
  });
  expect((await post(Buffer.from('{"a":1,"\\u0061":2}'))).body).toEqual({
    hint: 'The body has a key twice in one object: line 1, column 8.',
  });
});

test('an idempotency key stands for the bytes of its body, not for a reading of them', async () => {
  const [one, other, again] = await Promise.all(
    [0xe9, 0xe8, 0xe9].map((byte) => post(Buffer.from([0x7b, byte, 0x7d]))),
  );
  expect(one?.key.bodyHash).not.toBe(other?.key.bodyHash);
  expect(one?.key.bodyHash).toBe(again?.key.bodyHash);
});

test.each([
  ['that cannot be decoded', 'api/things/%zz'],
  ['in capitals', 'api/THINGS/1'],
])('a path %s names nothing: 404, not 400', async (_what, path) => {
  const answer = await fetch(`${base}/${path}`);
  const message = `The route ${path} could not be found.`;
  expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ message })]);
});

test('what is refused for how it was sent is told why, in JSON', async () => {
  const headers = { ...signed('POST', '/api/echo', 'x'), 'Content-Encoding': 'gzip' };
  const zipped = await fetch(`${base}/api/echo`, { method: 'POST', headers, body: 'x' });
  expect([zipped.status, await zipped.json()]).toEqual([
    415,
    expect.objectContaining({ message: 'The body must not be compressed.' }),
  ]);
  const expecting = await new Promise<[number | undefined, string]>((resolve, reject) => {
    const asked = request(`${base}/api/things/1`, { headers: { Expect: 'a miracle' } }, (answer) => {
      text(answer).then((body) => resolve([answer.statusCode, body]), reject);
    });
    asked.on('error', reject).end();
  });
  expect(expecting).toEqual([
    417,
    expect.stringContaining(
      '{"message":"Only \\"100-continue\\" can be expected.","code":"expectation_failed"',
    ),
  ]);
});

test('every answer may be kept by nobody and is what it says it is, also one to what is no request', async () => {
  const policyOf = (headers: Headers) => [
    headers.get('cache-control'),
    headers.get('x-content-type-options'),
    headers.get('content-security-policy'),
  ];
  const policy = "default-src 'none'; frame-ancestors 'none'";
  for (const path of ['/healthz', '/readyz', '/api/mine', '/api/things/1', '/api/things/%zz', '/nothing']) {
    expect([path, ...policyOf((await fetch(base + path)).headers)]).toEqual([
      path,
      'no-store',
      'nosniff',
      policy,
    ]);
  }
  const raw = (bytes: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
      text(socket).then(resolve, reject);
    });
  for (const bytes of [
    'no HTTP\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: a miracle\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n',
  ]) {
    const answer = await raw(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 4/);
    expect(answer).toContain('\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n');
    expect(answer).toContain(`\r\nContent-Security-Policy: ${policy}\r\n`);
  }
});

test('readiness is asked for once a second, however many ask', async () => {
  let checks = 0;
  const waitsFor = async () => {
    checks += 1;
    return ['the database'];
  };
  const app = createApp({ ...parts, waitsFor });
  finishApp(app, logger);
  const listening = await listen(app, '127.0.0.1', 0);
  const began = performance.now();
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async () => (await fetch(`http://127.0.0.1:${listening.port}/readyz`)).status),
  );
  const seconds = (performance.now() - began) / 1_000;
  await listening.close(0);
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(checks).toBeLessThanOrEqual(1 + seconds);
});

describe('one that closes', () => {
  const answering = async (held?: Promise<void>) => {
    const app = createApp(parts);
    const asked = Promise.withResolvers<void>();
    app.get('/api/things/:id', async (req, res) => {
      asked.resolve();
      await held;
      send(res, { status: 200, body: { id: req.params.id } });
    });
    finishApp(app, logger);
    const listening = await listen(app, '127.0.0.1', 0);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const get = () =>
      new Promise<{ status: number | undefined; connection: string | undefined; reused: boolean }>(
        (resolve, reject) => {
          const asked = request({ port: listening.port, path: '/api/things/1', agent }, (answer) => {
            const { statusCode: status, headers } = answer;
            answer.resume();
            answer.on('end', () =>
              resolve({ status, connection: headers.connection, reused: asked.reusedSocket }),
            );
          });
          asked.on('error', reject);
          asked.end();
        },
      );
    return { listening, get, agent, asked: asked.promise };
  };

  test('answers once more on a connection that is kept, and then ends it', async () => {
    const askAgain = async () => {
      const { listening, get } = await answering();
      expect(await get()).toEqual({ status: 200, connection: 'keep-alive', reused: false });
      const closing = listening.close(5_000);
      const answer = await get().catch((error: Error) => error.message);
      await closing;
      await expect(get()).rejects.toThrow('ECONNREFUSED');
      return answer;
    };
    let answer = await askAgain();
    // Asked a busy machine's half second later, it is too late.
    for (let tries = 1; tries < 5 && typeof answer === 'string'; tries++) answer = await askAgain();
    expect(answer).toEqual({ status: 200, connection: 'close', reused: true });
  });

  test('ends the connection of a request that it answers meanwhile', async () => {
    const held = Promise.withResolvers<void>();
    const { listening, get, asked } = await answering(held.promise);
    const answer = get();
    await asked;
    const closing = listening.close(60_000);
    // From then on Node itself has closed what was idle: this connection was not.
    await noLongerListens(listening.port);
    held.resolve();
    expect(await answer).toEqual({ status: 200, connection: 'close', reused: false });
    await closing;
  });

  test('waits neither for connections that nobody has nor for one that nobody uses', async () => {
    const { listening, get, agent } = await answering();
    await get();
    const unconnected = await answering();
    const closed: string[] = [];
    // In ten minutes this test has long failed.
    await Promise.all([
      listening.close(600_000).then(() => closed.push('with a connection that is kept')),
      unconnected.listening.close(600_000).then(() => closed.push('without a connection')),
    ]);
    expect(closed).toEqual(['without a connection', 'with a connection that is kept']);
    agent.destroy();
  });
});

test('a request that failed is logged with its path, and one whose path has a token with its route', async () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  const app = createApp({ ...parts, logger });
  const fails = () => {
    throw new Error('out of luck');
  };
  app.get('/api/things/:id', fails);
  app.get('/claim/:token', fails);
  app.use('/pages', (_req, res, next) => {
    nameRoute(res, '/pages/:token');
    next(new Unavailable('it is away'));
  });
  app.use('/others', fails);
  finishApp(app, logger);
  const listening = await listen(app, '127.0.0.1', 0);
  for (const path of ['api/things/7', 'claim/secret', 'pages/secret', 'others/secret']) {
    expect((await fetch(`http://127.0.0.1:${listening.port}/${path}`)).status).toBeGreaterThanOrEqual(500);
  }
  await listening.close(0);
  const logged = lines.map((line) => JSON.parse(line).path);
  expect(logged).toEqual(['/api/things/7', '/claim/:token', '/pages/:token', 'none']);
  expect(lines.join('')).not.toContain('secret');
});

async function noLongerListens(port: number): Promise<void> {
  const isTaken = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
    });
  while (await isTaken()) await new Promise(setImmediate);
}

test.each([
  ['', {}],
  ['page=2&status=paid', { page: '2', status: 'paid' }],
  ['page=1&page=2', { page: '2' }],
  ['status[]=paid', { status: ['paid'] }],
  ['status%5B%5D=paid&status[]=pending', { status: ['paid', 'pending'] }],
  ['status[0]=paid&status[x]=pending', { status: ['paid', 'pending'] }],
  ['kinds=a&kinds=b', { kinds: ['a', 'b'] }],
  ['kinds=a', { kinds: 'a' }],
  ['kinds[]=a&kinds[]=b', { kinds: ['a', 'b'] }],
  ['a=%zz&b', { a: '%zz', b: '' }],
  ['__proto__[x]=1', { ['__proto__']: ['1'] }],
  ['[]=1&x]=2', { '[]': '1', 'x]': '2' }],
])('the query %s', (text, query) => {
  expect({ ...readQuery(text, ['kinds']) }).toEqual(query);
});
