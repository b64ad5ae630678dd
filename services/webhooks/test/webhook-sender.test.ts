import type { LookupAddress } from 'node:dns';
import { createServer as createHttpServer } from 'node:http';
import { createServer, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, jest, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { createWebhookSender } from '../src/webhook-sender.ts';
import { openSenderFixture, order, TIMEOUT_MS } from './sender-fixture.ts';

/** For requests without an answer. */
const SOON_MS = 400;

const { receiver, aSender, rawServer, listening } = await openSenderFixture();

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const ACCEPTED = { kind: 'answered', status: 200 };
const failed = (failure: string) => ({ kind: 'failed', failure });
const TOO_LARGE = failed('headers_too_large');

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

test('a compressed answer is not decompressed, and its excerpt has no NUL', async () => {
  const zipped = gzipSync('out of order');
  receiver.answer((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped));
  expect(await aSender().send({ ...order, url: receiver.url })).toMatchObject({
    excerpt: zipped.toString('utf8').replaceAll('\0', '\ufffd'),
  });
});

test.each<[string, (socket: Socket) => void]>([
  ['hangs', () => {}],
  ['drips its headers', (socket) => drip(socket, OK, 'X-A: b\r\n')],
  ['sends nothing but 1xx', (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
])('an attempt at a receiver that %s ends at the time limit', async (_, talk) => {
  const { url } = await rawServer(talk);
  const start = performance.now();
  expect(await aSender({ timeoutMs: SOON_MS }).send({ ...order, url })).toEqual(failed('timed_out'));
  // Without a limit it would never end; a busy machine may be late.
  expect(performance.now() - start).toBeLessThan(SOON_MS + patient(5_000));
});

function drip(socket: Socket, first: string, more: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(more), 20);
  socket.on('close', () => clearInterval(timer));
}

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
  expect(await aSender().send({ ...order, url })).toMatchObject(ACCEPTED);
  // Bytes that were sent and not read are in the system's buffers.
  expect(sent).toBeLessThan(20_000_000);
});

test.each<[string, (socket: Socket) => void]>([
  ['resets', (socket) => socket.once('data', () => socket.resetAndDestroy())],
  ['closes', (socket) => socket.end()],
  ['speaks something else', (socket) => socket.end('220 mail ready\r\n')],
  ['ends in mid-header', (socket) => socket.end('HTTP/1.1 200')],
])('an attempt at a receiver that %s fails as broken off and is not repeated', async (_, talk) => {
  const { url, connections } = await rawServer(talk);
  expect(await aSender().send({ ...order, url })).toEqual(failed('broken_off'));
  expect(connections()).toBe(1);
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
  const connected = Promise.withResolvers<void>();
  const { url } = await rawServer((socket) => {
    drip(socket, OK, 'X-A: b\r\n');
    connected.resolve();
  });
  const sender = createWebhookSender({ publicOnly: false });
  jest.useFakeTimers({ doNotFake: ['setInterval', 'setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const sending = sender.send({ ...order, url });
    await connected.promise;
    jest.advanceTimersByTime(14_999);
    expect(await Promise.race([sending, new Promise((soon) => setImmediate(soon, 'goes on'))])).toBe(
      'goes on',
    );
    jest.advanceTimersByTime(1);
    expect(await sending).toEqual(failed('timed_out'));
  } finally {
    jest.useRealTimers();
    await sender.close();
  }
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
  ['headers of 17 kB', `${OK}X-A: ${'b'.repeat(17_000)}\r\n\r\n`, TOO_LARGE],
  ['headers of 100 kB', `${OK}X-A: ${'b'.repeat(100_000)}\r\n\r\n`, TOO_LARGE],
  ['60,000 small headers', `${OK}${SMALL_LINES}\r\n`, TOO_LARGE],
  ['an endless reason', `HTTP/1.1 200 ${'a'.repeat(1_000_000)}`, TOO_LARGE],
  ['nothing but 1xx', 'HTTP/1.1 103 E\r\n\r\n'.repeat(30_000), TOO_LARGE],
  ['60,000 trailers', `${CHUNKED}0\r\n${SMALL_LINES}\r\n`, ACCEPTED],
  ['an endless chunk extension', `${CHUNKED}1;a=${'b'.repeat(1_000_000)}`, ACCEPTED],
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

test('an attempt that timed out before the connection is not sent afterwards', async () => {
  const asked: ((addresses: LookupAddress[]) => void)[] = [];
  const sender = aSender({ timeoutMs: 100, resolve: () => new Promise((resolve) => asked.push(resolve)) });
  const url = `http://slow.example:${new URL(receiver.url).port}`;
  expect(await sender.send({ ...order, url: `${url}/late` })).toEqual(failed('timed_out'));
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

test('an unreachable host, an unknown name and a missing TLS are failures', async () => {
  const server = createServer();
  const { port } = await listening(server);
  await new Promise((closed) => server.close(closed));
  const sender = aSender();
  const unreachable = `http://127.0.0.1:${port}/`;
  expect(await sender.send({ ...order, url: unreachable })).toEqual(failed('not_connected'));
  const nameless = aSender({ resolve: () => Promise.reject(new Error('no such name')) });
  expect(await nameless.send({ ...order, url: 'http://no.example/' })).toEqual(failed('not_resolved'));
  const https = receiver.url.replace('http:', 'https:');
  expect(await sender.send({ ...order, url: https })).toEqual(failed('not_connected'));
});

test('a kept connection is used only while its name resolves to its address', async () => {
  const heard: string[] = [];
  const hearing = (host: string, port?: number) => {
    const server = createHttpServer((_, response) => {
      heard.push(host);
      response.end();
    });
    server.keepAliveTimeout = 60_000;
    return listening(server, host, port);
  };
  const former = await hearing('127.0.0.2');
  const latter = await hearing('127.0.0.3', former.port);
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
