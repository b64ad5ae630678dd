import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sleep } from '@quittance/shared/clock';
import { signIdentity, verifyIdentity } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import type { GatewayService } from '../src/service.ts';
import {
  bytesOf,
  IDENTITY_SECRET,
  newToken,
  sendRaw,
  startTestGateway,
  startUpstream,
  type Upstream,
} from './gateway-fixture.ts';

let database: TestDatabase;
let url: string;
let upstream: Upstream;
let gateway: GatewayService;
let shop: Awaited<ReturnType<typeof newToken>>;
const cleanUp: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await testDatabase();
  url = database.urlOf('gateway');
  shop = await newToken(url);
});
afterAll(() => database?.drop());
beforeEach(async () => {
  upstream = await startUpstream();
  gateway = await startTestGateway(url, upstream.url, {});
});
afterEach(async () => {
  await gateway.stop();
  for (const clean of cleanUp.splice(0)) await clean();
  await upstream.stop();
});

/** A second gateway in front of the same services, for one test. */
async function startedBeside(settings: Record<string, string>): Promise<GatewayService> {
  const beside = await startTestGateway(url, upstream.url, settings);
  cleanUp.push(() => beside.stop());
  return beside;
}

const ask = (method: string, path: string, headers: readonly string[] = [], body = '', port = gateway.port) =>
  sendRaw(port, bytesOf(method, path, [`Authorization: Bearer ${shop.token}`, ...headers], body));

const unavailable = { status: 503, body: { message: 'Service Unavailable' } };
const serverError = { status: 500, body: { message: 'Server Error' } };

describe('a request', () => {
  test('goes on with its path, query and body as they came', async () => {
    const body = '{"amount":1.000000000000000001, "x":"é\u0000"}';
    const path = '/api/invoices?a=1&b=%20x&a=2&c';
    await ask('POST', path, ['Content-Type: application/json', 'Idempotency-Key: k1'], body);
    expect(upstream.asked).toMatchObject([
      {
        method: 'POST',
        path,
        body,
        headers: { 'content-type': 'application/json', 'idempotency-key': 'k1' },
      },
    ]);
  });

  test('may name the whole URL', async () => {
    await ask('GET', 'http://shop.example/api/invoices?page=2');
    expect(upstream.asked).toMatchObject([{ path: '/api/invoices?page=2' }]);
  });

  test('goes on in bytes: nothing is decompressed', async () => {
    const zipped = gzipSync('{"a":1}');
    const head = bytesOf('POST', '/api/invoices', [
      `Authorization: Bearer ${shop.token}`,
      'Content-Encoding: gzip',
      `Content-Length: ${zipped.length}`,
    ]);
    upstream.answer((res) => {
      res.setHeader('Content-Encoding', 'gzip');
      res.end(gzipSync('{"b":2}'));
    });
    const answer = await new Promise<Buffer>((resolve) => {
      const chunks: Buffer[] = [];
      const socket = connect(gateway.port, '127.0.0.1', () =>
        socket.write(Buffer.concat([Buffer.from(head), zipped])),
      );
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('close', () => resolve(Buffer.concat(chunks)));
    });
    expect(upstream.asked).toMatchObject([{ headers: { 'content-encoding': 'gzip' } }]);
    expect(gunzipSync(answer.subarray(answer.indexOf('\r\n\r\n') + 4)).toString()).toBe('{"b":2}');
  });

  test('in chunks goes on with a length', async () => {
    const head = bytesOf('POST', '/api/payouts', [
      `Authorization: Bearer ${shop.token}`,
      'Transfer-Encoding: chunked',
    ]);
    await sendRaw(gateway.port, `${head}3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n`);
    expect(upstream.asked).toMatchObject([{ body: 'abcdefg', headers: { 'content-length': '7' } }]);
    expect(upstream.asked[0]?.headers).not.toHaveProperty('transfer-encoding');
  });

  test('a second one hidden in a body of GET or DELETE stays a body', async () => {
    const hidden = 'POST /api/payouts HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
    await ask('GET', '/api/invoices', [], hidden);
    await ask('DELETE', '/api/webhooks/whe_1', [], hidden);
    expect(upstream.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/invoices',
      'DELETE /api/webhooks/whe_1',
    ]);
  });

  test('that is broken off never reaches a service', async () => {
    const head = bytesOf('POST', '/api/payouts', [
      `Authorization: Bearer ${shop.token}`,
      'Content-Length: 100',
    ]);
    await new Promise<void>((resolve) => {
      const socket = connect(gateway.port, '127.0.0.1', () => socket.write(`${head}{"asset`));
      setTimeout(() => socket.destroy(), 100);
      socket.on('close', () => resolve());
    });
    expect((await ask('GET', '/api/assets')).status).toBe(200);
    expect(upstream.asked).toMatchObject([{ method: 'GET' }]);
  });
});

describe('whose request it is', () => {
  const identityOf = () =>
    verifyIdentity(IDENTITY_SECRET, upstream.asked.at(-1)?.headers['x-quittance-identity'], new Date());

  test('is signed by the gateway', async () => {
    await ask('GET', '/api/balances');
    expect(identityOf()).toEqual({ account: shop.account });
  });

  test.each<[string, string[]]>([
    ['forged', ['X-Quittance-Identity: eyJhY2NvdW50IjoiYWNjXzEifQ.AAAA']],
    ['twice', ['X-Quittance-Identity: a.b', 'x-quittance-identity: c.d']],
    ['in other letters', ['x-QUITTANCE-identity: a.b']],
    [
      'by someone who knows the secret',
      [
        `X-Quittance-Identity: ${signIdentity(IDENTITY_SECRET, { account: 'acc_other' as AccountId }, new Date())}`,
      ],
    ],
    ['declared hop by hop', ['Connection: X-Quittance-Identity', 'X-Quittance-Identity: a.b']],
  ])('said by the client (%s) is dropped', async (_, headers) => {
    await ask('GET', '/api/balances', headers);
    expect(identityOf()).toEqual({ account: shop.account });
    const names = upstream.asked[0]?.rawHeaders.filter((_name, at) => at % 2 === 0) ?? [];
    expect(names.filter((name) => name.toLowerCase() === 'x-quittance-identity')).toHaveLength(1);
  });

  test('is nobody’s on a payment page, whatever the client says', async () => {
    const signed = signIdentity(IDENTITY_SECRET, { account: shop.account as AccountId }, new Date());
    await sendRaw(gateway.port, bytesOf('GET', '/pay/inv_1', [`X-Quittance-Identity: ${signed}`]));
    expect(upstream.asked[0]?.headers).not.toHaveProperty('x-quittance-identity');
  });

  test('the token itself goes no further', async () => {
    await ask('GET', '/api/balances');
    expect(JSON.stringify(upstream.asked)).not.toContain(shop.token);
  });
});

describe('the request’s id', () => {
  test('is made here, goes along and comes back', async () => {
    upstream.answer((res, { headers }) => {
      res.setHeader('X-Request-Id', `${headers['x-request-id']}-changed`);
      res.end('{}');
    });
    const answer = await ask('GET', '/api/assets', ['X-Request-Id: req_of_the_client']);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{36}$/);
    expect(upstream.asked[0]?.headers['x-request-id']).toBe(answer.headers.get('x-request-id'));
  });
});

describe('where the request came from', () => {
  test('is what the socket says, not what the client says', async () => {
    await ask('GET', '/api/assets', [
      'X-Forwarded-For: 6.6.6.6',
      'X-Real-IP: 6.6.6.6',
      'X-Forwarded-Proto: x',
    ]);
    expect(upstream.asked[0]?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1' });
    expect(upstream.asked[0]?.headers).not.toHaveProperty('x-forwarded-proto');
    expect(upstream.asked[0]?.headers).not.toHaveProperty('x-real-ip');
  });

  test('is what a load balancer says that the operator named', async () => {
    const behind = await startedBeside({ TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1' });
    await ask('GET', '/api/assets', ['X-Forwarded-For: 6.6.6.6, 203.0.113.9'], '', behind.port);
    expect(upstream.asked[0]?.headers['x-forwarded-for']).toBe('203.0.113.9');
  });

  test.each([
    '203.0.113.9:4711',
    '::ffff:cb00:7109',
    '[::ffff:203.0.113.9]:4711',
    '203.0.113.9, 10.1.1.1:80',
  ])('is the same address however a load balancer writes it: %s', async (forwarded) => {
    const behind = await startedBeside({ TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1' });
    await ask('GET', '/api/assets', [`X-Forwarded-For: ${forwarded}`], '', behind.port);
    expect(upstream.asked[0]?.headers['x-forwarded-for']).toBe('203.0.113.9');
  });
});

describe('an answer', () => {
  test('comes back as it is: status, headers, body', async () => {
    upstream.answer((res) => {
      res.statusCode = 201;
      res.setHeader('Content-Type', 'text/html; charset=utf-8');
      res.setHeader('Content-Security-Policy', "default-src 'none'");
      res.setHeader('Set-Cookie', ['a=1', 'b=2']);
      res.write('<p>é');
      res.end('😀</p>');
    });
    const answer = await ask('GET', '/pay/inv_1');
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(answer.headers.get('set-cookie')).toBe('b=2');
    expect(answer.headers.has('transfer-encoding')).toBe(false);
    expect(answer.text).toBe('<p>é😀</p>');
  });

  test('may be kept by nobody on the way, unless its service says otherwise, once', async () => {
    upstream.answer((res) => res.end('{}'));
    const silent = await ask('GET', '/api/balances');
    const policyOf = ({ headers }: { headers: Pick<Headers, 'get'> | Map<string, string> }) => [
      headers.get('cache-control'),
      headers.get('x-content-type-options'),
    ];
    expect(policyOf(silent)).toEqual(['no-store', 'nosniff']);
    upstream.answer((res) => {
      res.setHeader('Cache-Control', 'private, max-age=1');
      res.setHeader('X-Content-Type-Options', 'nosniff');
      res.end('{}');
    });
    // A header that is there twice would be told as one text.
    const said = await fetch(`http://127.0.0.1:${gateway.port}/pay/inv_1`);
    expect(policyOf(said)).toEqual(['private, max-age=1', 'nosniff']);
    for (const path of ['/api/nothing', '/healthz', '/readyz', '/pay']) {
      expect(policyOf(await ask('GET', path))).toEqual(['no-store', 'nosniff']);
    }
  });

  test('to HEAD has a length and no body', async () => {
    upstream.answer((res) => {
      res.setHeader('Content-Length', 11);
      res.end('{"ok":true}');
    });
    const answer = await ask('HEAD', '/api/assets');
    expect(upstream.asked).toMatchObject([{ method: 'HEAD' }]);
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers.get('content-length')).toBe('11');
  });

  test('without a body stays without one', async () => {
    upstream.answer((res) => {
      res.statusCode = 204;
      res.end();
    });
    const answer = await ask('DELETE', '/api/webhooks/whe_1');
    expect(answer).toMatchObject({ status: 204, text: '' });
  });

  test('of an error is the service’s own', async () => {
    upstream.answer((res) => {
      res.statusCode = 400;
      res.setHeader('Content-Type', 'application/json; charset=utf-8');
      res.end('{"message":"Insufficient balance"}');
    });
    expect(await ask('POST', '/api/payouts', [], '{}')).toMatchObject({
      status: 400,
      body: { message: 'Insufficient balance' },
    });
  });

  test('of a megabyte comes whole', async () => {
    const text = 'é'.repeat(600_000);
    upstream.answer((res) => res.end(text));
    expect((await ask('GET', '/api/invoices')).text).toBe(text);
  });

  test('connections are kept on both sides', async () => {
    const sockets = new Set<number | undefined>();
    upstream.answer((res, _asked, req) => {
      sockets.add(req.socket.remotePort);
      res.end('{}');
    });
    for (let i = 0; i < 5; i++) await ask('POST', '/api/payouts', [], '{}');
    expect(sockets.size).toBe(1);
  });
});

describe('a service that', () => {
  test('is away: 503, whatever was asked', async () => {
    await upstream.stop();
    for (const [method, path] of [
      ['GET', '/api/assets'],
      ['POST', '/api/payouts'],
    ] as const) {
      const answer = await ask(method, path, [], method === 'POST' ? '{}' : '');
      expect(answer).toMatchObject(unavailable);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1/);
    }
  });

  test('dies in the middle of a payout: 500, which promises nothing, and it is not asked again', async () => {
    upstream.answer((_res, _asked, req) => req.socket.destroy());
    const answer = await ask('POST', '/api/payouts', [], '{}');
    expect(answer).toMatchObject(serverError);
    // The payout may be paid, so the client is not told to repeat it.
    expect(answer.headers.has('retry-after')).toBe(false);
    expect(upstream.asked).toHaveLength(1);
  });

  test('dies in the middle of what only reads: 503', async () => {
    upstream.answer((_res, _asked, req) => req.socket.destroy());
    expect(await ask('GET', '/api/payouts')).toMatchObject(unavailable);
    expect(await ask('HEAD', '/api/payouts')).toMatchObject({ status: 503 });
  });

  test('dies in the middle of its answer: 500, no half answer', async () => {
    upstream.answer((res, _asked, req) => {
      res.writeHead(201, { 'Content-Length': 100, 'Content-Type': 'application/json', 'X-Inside': '1' });
      res.write('{"half":');
      setTimeout(() => req.socket.destroy(), 50);
    });
    const answer = await ask('POST', '/api/payouts', [], '{}');
    expect(answer).toMatchObject(serverError);
    expect(answer.headers.has('x-inside')).toBe(false);
  });

  test('answers what is no HTTP: 503', async () => {
    upstream.answer((_res, _asked, req) => req.socket.end('garbage\r\n\r\n'));
    expect(await ask('GET', '/api/assets')).toMatchObject(unavailable);
  });

  test('does not answer: 500 in time, and its late answer goes nowhere', async () => {
    const { port } = await startedBeside({ REQUEST_TIMEOUT_MS: '700' });
    const late: ServerResponse[] = [];
    upstream.answer((res) => late.push(res));
    const start = performance.now();
    expect(await ask('POST', '/api/payouts', [], '{}', port)).toMatchObject(serverError);
    expect(performance.now() - start).toBeGreaterThan(650);
    for (const res of late) res.end('{"late":true}');
    expect(late).toHaveLength(1);
    upstream.answer((res) => res.end('{}'));
    expect(await ask('GET', '/api/assets', [], '', port)).toMatchObject({ status: 200, text: '{}' });
  });

  test('answers drop by drop: 503 in time', async () => {
    upstream.answer((res) => {
      const drip = setInterval(() => res.write(' '), 100);
      res.on('close', () => clearInterval(drip));
    });
    const { port } = await startedBeside({ REQUEST_TIMEOUT_MS: '700' });
    expect(await ask('GET', '/api/assets', [], '', port)).toMatchObject(unavailable);
  });

  test('has no connection free until it is too late: it is not asked for a client that has been told off', async () => {
    const patient = await startedBeside({ REQUEST_TIMEOUT_MS: '12000' });
    const held: ServerResponse[] = [];
    upstream.answer((res) => held.push(res));
    const head = bytesOf('POST', '/api/payouts', [
      `Authorization: Bearer ${shop.token}`,
      'Content-Length: 4',
    ]);
    // Its time runs from here, long before the others' does.
    const late = connect(patient.port, '127.0.0.1', () => late.write(`${head}la`));
    const told = new Promise<string>((resolve) => late.on('data', (chunk) => resolve(chunk.toString())));
    await sleep(3_000);
    const others = Array.from({ length: 128 }, () => ask('POST', '/api/payouts', [], '{}', patient.port));
    await eventually(() => expect(held.length).toBe(128), 8_500, 5);
    late.write('te');
    expect(await told).toMatch(/^HTTP\/1.1 503 /);
    for (const res of held.splice(0)) res.end('{}');
    expect((await Promise.all(others)).every(({ status }) => status === 200)).toBe(true);
    upstream.answer((res) => res.end('{}'));
    expect((await ask('POST', '/api/payouts', [], '{}', patient.port)).status).toBe(200);
    expect(upstream.asked.map(({ body }) => body)).not.toContain('late');
    late.destroy();
  });

  test('is back is used again at once', async () => {
    await upstream.stop();
    expect(await ask('GET', '/api/assets')).toMatchObject(unavailable);
    upstream = await startUpstream(upstream.port);
    expect((await ask('GET', '/api/assets')).status).toBe(200);
  });

  test('has restarted and closed the kept connection: what only reads is asked again, once', async () => {
    const asked = { get: 0, post: 0 };
    const restarting = await rawServer((request, first) => {
      if (request.startsWith('GET')) asked.get += 1;
      else asked.post += 1;
      return first ? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}' : undefined;
    });
    const before = await startedBeside({ PAYOUTS_URL: `http://127.0.0.1:${restarting}` });
    expect((await ask('GET', '/api/payouts', [], '', before.port)).status).toBe(200);
    expect((await ask('GET', '/api/payouts', [], '', before.port)).status).toBe(200);
    expect(asked.get).toBe(3);
    expect(await ask('POST', '/api/payouts', [], '{}', before.port)).toMatchObject(serverError);
    expect(asked.post).toBe(1);
  });
});

test('stopping lets a request in flight end, closes idle connections, and takes no longer than that', async () => {
  const stopping = await startedBeside({});
  upstream.answer((res) => setTimeout(() => res.end('{"done":true}'), 300));
  const bytes = bytesOf('GET', '/api/assets', [`Authorization: Bearer ${shop.token}`]);
  const kept = sendRaw(stopping.port, bytes.replace('Connection: close\r\n', ''));
  await eventually(() => expect(upstream.asked).toHaveLength(1), 10_000, 5);
  const start = performance.now();
  await stopping.stop();
  expect(performance.now() - start).toBeLessThan(6_000);
  expect(await kept).toMatchObject({ status: 200, body: null, text: '{"done":true}' });
  cleanUp.pop();
});

test('a client that goes away takes its request with it', async () => {
  let closed = 0;
  upstream.answer((res) => res.on('close', () => (closed += 1)));
  const bytes = bytesOf('GET', '/api/assets', [`Authorization: Bearer ${shop.token}`]);
  const socket = connect(gateway.port, '127.0.0.1', () => socket.write(bytes));
  await eventually(() => expect(upstream.asked).toHaveLength(1), 10_000, 5);
  socket.destroy();
  // Sooner than the gateway itself gives it up.
  await eventually(() => expect(closed).toBe(1), 5_000);
});

/** A server that answers the first request of each connection, and cuts the connection at the second. */
async function rawServer(answer: (request: string, first: boolean) => string | undefined): Promise<number> {
  const server = createServer((socket) => {
    let first = true;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      const bytes = answer(text, first);
      first = false;
      if (bytes === undefined) socket.resetAndDestroy();
      else socket.write(bytes);
    });
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(async () => void server.close());
  return (server.address() as AddressInfo).port;
}
