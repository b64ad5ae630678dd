import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sleep, systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { readStream, type StreamReading } from '@quittance/testkit/stream-reader';
import { revokeToken } from '../src/operations/accounts.ts';
import type { GatewayService } from '../src/service.ts';
import {
  bytesOf,
  newToken,
  sendRaw,
  startTestGateway,
  startUpstream,
  type Upstream,
} from './gateway-fixture.ts';

const PATH = '/api/events/stream';
const REQUEST_TIMEOUT_MS = 700;

let database: TestDatabase;
let url: string;
let upstream: Upstream;
let gateway: GatewayService;
let shop: Awaited<ReturnType<typeof newToken>>;
/** The service's ends of the streams that were asked for. */
let streams: ServerResponse[];

beforeAll(async () => {
  database = await testDatabase();
  url = database.urlOf('gateway');
  shop = await newToken(url);
});
afterAll(() => database?.drop());
beforeEach(async () => {
  streams = [];
  upstream = await startUpstream();
  upstream.answer((res) => {
    streams.push(res);
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    res.write(':\n\n');
  });
  gateway = await startTestGateway(
    url,
    upstream.url,
    { REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) },
    { workers: true },
  );
});
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
});

const open = (method = 'GET', headers: Record<string, string> = {}): Promise<StreamReading> =>
  readStream({
    ...{ port: gateway.port, path: PATH, method },
    headers: { Authorization: `Bearer ${shop.token}`, ...headers },
  });

test('a stream comes as it is written, longer than any answer may take, and costs one request', async () => {
  const reading = await open('GET', { 'Last-Event-ID': '41', 'Accept-Encoding': 'gzip' });
  expect(reading.answer.statusCode).toBe(200);
  expect(reading.answer.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-ratelimit-remaining': '99999',
  });
  expect(reading.answer.headers['content-encoding']).toBeUndefined();
  expect(upstream.asked[0]?.headers['last-event-id']).toBe('41');
  await eventually(() => expect(reading.text()).toBe(':\n\n'));
  await sleep(2 * REQUEST_TIMEOUT_MS);
  streams[0]?.write('data: é\n\n');
  await eventually(() => expect(reading.text()).toBe(':\n\ndata: é\n\n'));
  streams[0]?.end();
  expect(await reading.ended).toBe('whole');
});

test('a client that leaves closes its stream at the service', async () => {
  const reading = await open();
  const [stream] = streams;
  expect(stream?.destroyed).toBe(false);
  reading.leave();
  await eventually(() => expect(stream?.destroyed).toBe(true));
});

test('a service that dies breaks its streams off, and the gateway goes on', async () => {
  const reading = await open();
  streams[0]?.destroy();
  expect(await reading.ended).toBe('broken off');
  const again = await open();
  expect(again.answer.statusCode).toBe(200);
  again.leave();
});

test.each([
  ['revoked', (db: Db, id: string) => revokeToken({ db, clock: systemClock }, { id, actor: 'test' })],
  [
    'expired',
    (db: Db, id: string) =>
      db.rows(`update tokens set expires_at = created_at + interval '1 ms' where id = $1`, [id]),
  ],
])('the streams of a token that is %s end within seconds, and those of others go on', async (_what, end) => {
  const leaver = await newToken(url);
  const authorization = { Authorization: `Bearer ${leaver.token}` };
  const [reading, second, other] = await Promise.all([
    open('GET', authorization),
    open('GET', authorization),
    open(),
  ]);
  const db = openDb({ url, schema: 'gateway', pool: 1, logger: createLogger('test', 'silent') });
  try {
    await end(db, leaver.id);
  } finally {
    await db.close();
  }
  const begun = performance.now();
  // Nothing is written meanwhile, and its service would end each only after ten minutes.
  const ended = Promise.all([reading.ended, second.ended]);
  expect(await Promise.race([ended, sleep(30_000).then(() => 'still open')])).toEqual(['whole', 'whole']);
  expect(performance.now() - begun).toBeLessThan(patient(5_000));
  expect((await open('GET', authorization)).answer.statusCode).toBe(401);
  await eventually(() => expect(streams.filter(({ destroyed }) => destroyed)).toHaveLength(2));
  streams.find(({ destroyed }) => !destroyed)?.write('data: on\n\n');
  await eventually(() => expect(other.text()).toContain('data: on'));
  other.leave();
});

test('a refusal is an answer like any other', async () => {
  upstream.answer((res) => {
    res.writeHead(429, { 'Content-Type': 'application/json; charset=utf-8' });
    res.end('{"message":"no more"}');
  });
  const head = bytesOf('GET', PATH, [`Authorization: Bearer ${shop.token}`]);
  const answer = await sendRaw(gateway.port, head);
  expect(answer).toMatchObject({ status: 429, body: { message: 'no more' } });
  expect(answer.headers.get('content-length')).toBe('21');
});

test('without an answer in time it is refused; only one that has begun may last', async () => {
  upstream.answer(() => undefined);
  const head = bytesOf('GET', PATH, [`Authorization: Bearer ${shop.token}`]);
  expect((await sendRaw(gateway.port, head)).status).toBe(503);
});

test('without a token there is none', async () => {
  expect((await sendRaw(gateway.port, bytesOf('GET', PATH))).status).toBe(401);
  expect(streams).toEqual([]);
});

test('HEAD is answered, and ends', async () => {
  upstream.answer((res) => res.writeHead(200, { 'Content-Type': 'text/event-stream' }).end());
  const reading = await open('HEAD');
  expect(reading.answer.statusCode).toBe(200);
  expect(await reading.ended).toBe('whole');
});

test('many streams take no connection from other requests', async () => {
  const many = await Promise.all(Array.from({ length: 200 }, () => open()));
  upstream.answer((res) => res.end('{}'));
  const head = bytesOf('GET', '/api/webhooks', [`Authorization: Bearer ${shop.token}`]);
  expect((await sendRaw(gateway.port, head)).status).toBe(200);
  for (const reading of many) reading.leave();
  await eventually(() => expect(streams.every((stream) => stream.destroyed)).toBe(true));
});

test('a client that does not read stops the service from writing, not the gateway from living', async () => {
  const reading = await open();
  reading.answer.pause();
  const [stream] = streams;
  const page = `data: ${'x'.repeat(64_000)}\n\n`;
  let written = 0;
  const before = process.memoryUsage().rss;
  // What the sockets between take, and no more: a hundredth of what is there to be written.
  for (let i = 0; i < 4_000; i++) {
    if (stream?.write(page) !== true) {
      const isFree = await Promise.race([
        new Promise<boolean>((resolve) => stream?.once('drain', () => resolve(true))),
        sleep(1_000).then(() => false),
      ]);
      if (!isFree) break;
    }
    written += page.length;
  }
  expect(written).toBeLessThan(64_000_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  reading.leave();
});

test('stopping ends streams at once, whole, and takes no longer for them', async () => {
  const [reading, other] = await Promise.all([open(), open()]);
  const begun = performance.now();
  const stopped = gateway.stop();
  expect(await Promise.all([reading.ended, other.ended])).toEqual(['whole', 'whole']);
  await stopped;
  expect(performance.now() - begun).toBeLessThan(6_000);
  gateway = await startTestGateway(url, upstream.url);
});
