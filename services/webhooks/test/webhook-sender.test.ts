import type { LookupAddress } from 'node:dns';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { createWebhookSender, type WebhookSender, type WebhookSenderOptions } from '../src/webhook-sender.ts';

/** Enough for an answer on a busy machine. */
const TIMEOUT_MS = 10_000;
/** For requests without an answer. */
const SOON_MS = 400;
const order = { headers: { 'content-type': 'application/json' }, body: '{}' };

let receiver: Receiver;
const senders: WebhookSender[] = [];
const servers: Server[] = [];

beforeAll(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  jest.restoreAllMocks();
  receiver.received.length = 0;
  receiver.answer((response) => response.writeHead(200).end());
  await Promise.all(senders.splice(0).map((sender) => sender.close()));
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => receiver?.close());

function aSender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const sender = createWebhookSender({ publicOnly: false, timeoutMs: TIMEOUT_MS, ...options });
  senders.push(sender);
  return sender;
}

function counted(server: Server): () => number {
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  return () => connections;
}

/** A server that writes raw bytes and counts its connections. */
async function rawServer(
  talk: (socket: Socket) => void,
): Promise<{ url: string; connections: () => number }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    talk(socket);
  });
  const connections = counted(server);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/`, connections };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const TOO_LARGE = { kind: 'failed', failure: 'headers_too_large' };

test('POSTs arrive as requested, over one kept connection', async () => {
  const sender = aSender();
  const url = `${receiver.url}/a/b?c=d%20e`;
  for (let i = 0; i < 3; i++) {
    expect(await sender.send({ ...order, url })).toEqual({
      kind: 'answered',
      status: 200,
      retryAfter: undefined,
      excerpt: '',
    });
  }
  expect(receiver.received.map((one) => [one.path, one.body])).toEqual(Array(3).fill(['/a/b?c=d%20e', '{}']));
});

test('the result has the status, the Retry-After and the first kilobyte of the answer', async () => {
  receiver.answer((response) => response.writeHead(429, { 'retry-after': '7' }).end('x'.repeat(5_000)));
  expect(await aSender().send({ ...order, url: receiver.url })).toEqual({
    kind: 'answered',
    status: 429,
    retryAfter: '7',
    excerpt: 'x'.repeat(1_024),
  });
});

test.each([301, 302, 303, 307, 308])('%i is an answer like any other', async (status) => {
  receiver.answer((response) => response.writeHead(status, { location: `${receiver.url}/canary` }).end());
  expect(await aSender().send({ ...order, url: `${receiver.url}/a` })).toMatchObject({
    kind: 'answered',
    status,
  });
  expect(receiver.received.map((one) => one.path)).toEqual(['/a']);
});

test.each<[string, (socket: Socket) => void]>([
  ['hangs', () => {}],
  ['drips its headers', (socket) => drip(socket, OK, 'X-A: b\r\n')],
  ['sends nothing but 1xx', (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
])('an attempt at a receiver that %s ends at the time limit', async (_, talk) => {
  const { url } = await rawServer(talk);
  const start = performance.now();
  expect(await aSender({ timeoutMs: SOON_MS }).send({ ...order, url })).toEqual({
    kind: 'failed',
    failure: 'timed_out',
  });
  // Without a limit it would never end; a busy machine may be late.
  expect(performance.now() - start).toBeLessThan(SOON_MS + patient(5_000));
});

function drip(socket: Socket, first: string, more: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(more), 20);
  socket.on('close', () => clearInterval(timer));
}

test('a slow body ends at the time limit, and the received status is the answer', async () => {
  const { url } = await rawServer((socket) => drip(socket, `${OK}Content-Length: 100000\r\n\r\n`, 'x'));
  expect(await aSender({ timeoutMs: 5 * SOON_MS }).send({ ...order, url })).toMatchObject({
    kind: 'answered',
    status: 200,
  });
});

test('64 kB of an endless body are read', async () => {
  let sent = 0;
  const { url } = await rawServer((socket) => {
    socket.write(`${OK}Content-Length: 10000000000\r\n\r\n`);
    const more = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(16_384))) sent += 16_384;
    };
    socket.on('drain', more);
    more();
  });
  expect(await aSender().send({ ...order, url })).toMatchObject({
    kind: 'answered',
    status: 200,
  });
  // Bytes that were sent and not read are in the system's buffers.
  expect(sent).toBeLessThan(20_000_000);
});

test('a compressed answer is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  receiver.answer((response) => response.writeHead(500, { 'content-encoding': 'gzip' }).end(bomb));
  const result = await aSender().send({ ...order, url: receiver.url });
  expect(result).toMatchObject({ kind: 'answered', status: 500 });
  expect((result as { excerpt: string }).excerpt.length).toBeLessThanOrEqual(1_024);
});

test('headers over 16 kB are a failure', async () => {
  const { url } = await rawServer((socket) => socket.end(`${OK}X-A: ${'b'.repeat(17_000)}\r\n\r\n`));
  expect(await aSender().send({ ...order, url })).toEqual({ kind: 'failed', failure: 'headers_too_large' });
});

test.each<[string, (socket: Socket) => void]>([
  ['resets', (socket) => socket.once('data', () => socket.resetAndDestroy())],
  ['closes', (socket) => socket.end()],
  ['speaks something else', (socket) => socket.end('220 mail ready\r\n')],
  ['ends in mid-header', (socket) => socket.end('HTTP/1.1 200')],
])('an attempt at a receiver that %s fails as broken off and is not repeated', async (_, talk) => {
  const { url, connections } = await rawServer(talk);
  expect(await aSender().send({ ...order, url })).toEqual({ kind: 'failed', failure: 'broken_off' });
  expect(connections()).toBe(1);
});

test('an unreachable host, an unknown name and a missing TLS are failures', async () => {
  const { url } = await rawServer((socket) => socket.destroy());
  const port = new URL(url).port;
  servers.splice(0).forEach((server) => void server.close());
  const sender = aSender();
  expect(await sender.send({ ...order, url: `http://127.0.0.1:${port}/` })).toEqual({
    kind: 'failed',
    failure: 'not_connected',
  });
  const nameless = aSender({ resolve: () => Promise.reject(new Error('no such name')) });
  expect(await nameless.send({ ...order, url: 'http://no.example/' })).toEqual({
    kind: 'failed',
    failure: 'not_resolved',
  });
  const https = receiver.url.replace('http:', 'https:');
  expect(await sender.send({ ...order, url: https })).toEqual({ kind: 'failed', failure: 'not_connected' });
});

test('only https is sent when only public addresses are allowed', async () => {
  const asked: string[] = [];
  const sender = aSender({
    publicOnly: true,
    isPublic: () => true,
    resolve: async (hostname) => {
      asked.push(hostname);
      return [{ address: '127.0.0.1', family: 4 }];
    },
  });
  const { port } = new URL(receiver.url);
  for (const host of ['127.0.0.1', 'shop.example']) {
    expect(await sender.send({ ...order, url: `http://${host}:${port}/` })).toEqual({
      kind: 'failed',
      failure: 'not_secure',
    });
  }
  expect(asked).toEqual([]);
  expect(receiver.received).toHaveLength(0);
});

test('a kept connection is used only while its name resolves to its address', async () => {
  const heard: string[] = [];
  const listening = async (host: string, port: number) => {
    const server = createHttpServer((_, response) => {
      heard.push(host);
      response.end();
    });
    server.keepAliveTimeout = 60_000;
    const connections = counted(server);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    return { port: (server.address() as { port: number }).port, connections };
  };
  const former = await listening('127.0.0.2', 0);
  const latter = await listening('127.0.0.3', former.port);
  let address = '127.0.0.2';
  let asked = 0;
  const sender = aSender({
    timeoutMs: 4_000,
    resolve: async () => {
      asked += 1;
      return [{ address, family: 4 }];
    },
  });
  const url = `http://moving.example:${former.port}/`;
  for (let i = 0; i < 3; i++) await sender.send({ ...order, url });
  expect(heard).toEqual(Array(3).fill('127.0.0.2'));
  expect(former.connections()).toBe(1);
  // Attempts that start together share a DNS answer.
  expect(asked).toBe(1);
  address = '127.0.0.3';
  await eventually(async () => {
    await sender.send({ ...order, url });
    expect(heard.at(-1)).toBe('127.0.0.3');
  });
  expect(asked).toBe(2);
  const before = heard.length;
  await sender.send({ ...order, url });
  expect(heard.slice(before)).toEqual(['127.0.0.3']);
  expect([former.connections(), latter.connections()]).toEqual([1, 1]);
});

test('each attempt on a kept connection has the full limits', async () => {
  receiver.answer((response) =>
    response.writeHead(200, { 'x-a': 'a'.repeat(9_000) }).end('b'.repeat(40_000)),
  );
  const sender = aSender();
  for (let i = 0; i < 4; i++) {
    expect(await sender.send({ ...order, url: receiver.url })).toMatchObject({
      kind: 'answered',
      excerpt: 'b'.repeat(1_024),
    });
  }
});

test('an attempt takes 15 seconds at most by default', async () => {
  const { url } = await rawServer((socket) => drip(socket, OK, 'X-A: b\r\n'));
  const sender = createWebhookSender({ publicOnly: false });
  senders.push(sender);
  const start = performance.now();
  expect(await sender.send({ ...order, url })).toEqual({ kind: 'failed', failure: 'timed_out' });
  expect(performance.now() - start).toBeGreaterThan(14_900);
  expect(performance.now() - start).toBeLessThan(15_000 + patient(4_000));
});

const SMALL_LINES = 'x: y\r\n'.repeat(60_000);
/** How much of an answer the parser may read: its headers, and the rest. */
const GIVEN_MAX = (16 + 64) * 1_024;
/** The parser reads a piece to its end even after an error. */
const PIECE_MAX = 2_048;

/** Collects the pieces that the parser reads from connections to this port from now on. */
function piecesFrom(port: string): number[] {
  const pieces: number[] = [];
  const { read } = Socket.prototype;
  jest.spyOn(Socket.prototype, 'read').mockImplementation(function (this: Socket, ...size) {
    const piece = read.apply(this, size) as Buffer | null;
    if (piece !== null && String(this.remotePort) === port) pieces.push(piece.length);
    return piece;
  });
  return pieces;
}

test.each<[string, string, object]>([
  ['60,000 small headers', `${OK}${SMALL_LINES}\r\n`, TOO_LARGE],
  ['an endless reason', `HTTP/1.1 200 ${'a'.repeat(1_000_000)}`, TOO_LARGE],
  ['nothing but 1xx', 'HTTP/1.1 103 E\r\n\r\n'.repeat(30_000), TOO_LARGE],
  ['60,000 trailers', `${CHUNKED}0\r\n${SMALL_LINES}\r\n`, { kind: 'answered', status: 200 }],
  ['an endless chunk extension', `${CHUNKED}1;a=${'b'.repeat(1_000_000)}`, { kind: 'answered', status: 200 }],
])('%s end the attempt, and little of them is parsed', async (_, text, outcome) => {
  const { url } = await rawServer((socket) =>
    socket.once('data', () => {
      // One large write arrives in large pieces.
      socket.write(text);
    }),
  );
  const pieces = piecesFrom(new URL(url).port);
  expect(await aSender().send({ ...order, url })).toMatchObject(outcome);
  // It counts bytes, because the time of parsing depends on the load of the machine.
  const given = pieces.reduce((sum, piece) => sum + piece, 0);
  expect(given).toBeGreaterThan(0);
  expect(given).toBeLessThanOrEqual(GIVEN_MAX);
  expect(Math.max(...pieces)).toBeLessThanOrEqual(PIECE_MAX);
});

const PRIVATE = { kind: 'failed', failure: 'private_address' };

test.each([
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::]',
])('the literal %s is never connected to', async (host) => {
  const port = new URL(receiver.url).port;
  const sender = aSender({ publicOnly: true });
  expect(await sender.send({ ...order, url: `https://${host}:${port}/` })).toEqual(PRIVATE);
  expect(receiver.received).toHaveLength(0);
});

test.each<[string, LookupAddress[]]>([
  ['to a private address', [{ address: '127.0.0.1', family: 4 }]],
  [
    'to a private and a public one',
    [
      { address: '8.8.8.8', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ],
  ],
  ['to a mapped one', [{ address: '::ffff:127.0.0.1', family: 6 }]],
])('a name that leads %s is never connected to', async (_, addresses) => {
  const url = `https://shop.example:${new URL(receiver.url).port}/`;
  const sender = aSender({ publicOnly: true, resolve: () => Promise.resolve(addresses) });
  expect(await sender.send({ ...order, url })).toEqual(PRIVATE);
  expect(receiver.received).toHaveLength(0);
});

test('each attempt resolves the name again and checks its new address', async () => {
  const answers = ['203.0.113.1', '127.0.0.1'];
  const url = `https://rebinding.example:${new URL(receiver.url).port}/`;
  const sender = aSender({
    publicOnly: true,
    resolve: () => Promise.resolve([{ address: answers.shift() ?? '127.0.0.1', family: 4 }]),
  });
  // 203.0.113.1 is for documentation and not public, so no real host is called.
  await eventually(async () => {
    expect(await sender.send({ ...order, url })).toEqual(PRIVATE);
    expect(answers).toHaveLength(0);
  });
  expect(receiver.received).toHaveLength(0);
});

test('names are resolved by DNS and not by the hosts file of this machine', async () => {
  const url = `https://localhost:${new URL(receiver.url).port}/`;
  const result = await aSender({ publicOnly: true, timeoutMs: 8_000 }).send({ ...order, url });
  expect(result).toMatchObject({
    kind: 'failed',
    failure: expect.stringMatching(/private_address|not_resolved/),
  });
  expect(receiver.received).toHaveLength(0);
});

test('proxy settings of the environment are ignored', async () => {
  const { url: proxy, connections } = await rawServer((socket) => socket.destroy());
  const before = { ...process.env };
  Object.assign(process.env, {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    NODE_USE_ENV_PROXY: '1',
  });
  try {
    expect(await aSender().send({ ...order, url: receiver.url })).toMatchObject({
      kind: 'answered',
      status: 200,
    });
  } finally {
    process.env = before;
  }
  expect(connections()).toBe(0);
});

test('an attempt that timed out before the connection is not sent afterwards', async () => {
  const asked: ((addresses: LookupAddress[]) => void)[] = [];
  const sender = aSender({ timeoutMs: 100, resolve: () => new Promise((resolve) => asked.push(resolve)) });
  const url = `http://slow.example:${new URL(receiver.url).port}`;
  expect(await sender.send({ ...order, url: `${url}/late` })).toEqual({
    kind: 'failed',
    failure: 'timed_out',
  });
  const next = sender.send({ ...order, url: `${url}/next` });
  for (const resolve of asked) resolve([{ address: '127.0.0.1', family: 4 }]);
  await next;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(receiver.received.map((one) => one.path)).not.toContain('/late');
});

test('`close` ends attempts in flight as stopped', async () => {
  const { url } = await rawServer(() => {});
  const sender = aSender();
  const posting = sender.send({ ...order, url });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await sender.close();
  expect(await posting).toEqual({ kind: 'stopped' });
  expect(await sender.send({ ...order, url })).toEqual({ kind: 'stopped' });
});

test('concurrent attempts at one origin do not wait for each other', async () => {
  receiver.answer((response, { path }) => {
    if (path !== '/hang') response.writeHead(200).end();
  });
  const sender = aSender();
  const hanging = Array.from({ length: 50 }, () => sender.send({ ...order, url: `${receiver.url}/hang` }));
  const start = performance.now();
  expect(await sender.send({ ...order, url: `${receiver.url}/quick` })).toMatchObject({ status: 200 });
  // On one connection it would wait as long as they do.
  expect(performance.now() - start).toBeLessThan(TIMEOUT_MS / 2);
  await sender.close();
  expect(await Promise.all(hanging)).toEqual(Array(50).fill({ kind: 'stopped' }));
});
