import type { ServerResponse } from 'node:http';
import { beforeEach, expect, test } from '@jest/globals';
import { sleep, systemClock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { readStream, type StreamReading } from '@quittance/testkit/stream-reader';
import { revokeToken } from '../src/operations/accounts.ts';
import { newToken, openGatewayPerTest, operatorsDb, startTestGateway } from './gateway-fixture.ts';

const PATH = '/api/events/stream';
const REQUEST_TIMEOUT_MS = 700;

const at = await openGatewayPerTest({}, { workers: true });
const { url, shop, ask, startedBeside } = at;
/** Longer than an answer may take: a request that was begun now has waited in vain for all of that time. */
const longerThanAnyAnswer = async ({ port }: { port: number }) => {
  at.upstream.answer(() => undefined);
  expect((await ask('GET', '/api/webhooks', [], '', port)).status).toBe(503);
};
const hasty = () => startedBeside({ REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) });
/** The service's ends of the streams that were asked for. */
let streams: ServerResponse[];

beforeEach(() => {
  streams = [];
  at.upstream.answer((res) => {
    streams.push(res);
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    res.write(':\n\n');
  });
});

const open = (
  method = 'GET',
  headers: Record<string, string> = {},
  { port } = at.gateway,
  path = PATH,
): Promise<StreamReading> =>
  readStream({
    ...{ port, path, method },
    headers: { Authorization: `Bearer ${shop.token}`, ...headers },
  });

test('a stream comes as it is written, longer than any answer may take, and costs one request', async () => {
  const gateway = await hasty();
  const reading = await open('GET', { 'Last-Event-ID': '41', 'Accept-Encoding': 'gzip' }, gateway);
  expect(reading.answer.statusCode).toBe(200);
  expect(reading.answer.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-ratelimit-remaining': '99999',
  });
  expect(reading.answer.headers['content-encoding']).toBeUndefined();
  expect(at.upstream.asked[0]?.headers['last-event-id']).toBe('41');
  await eventually(() => expect(reading.text()).toBe(':\n\n'));
  await longerThanAnyAnswer(gateway);
  streams[0]?.write('data: é\n\n');
  await eventually(() => expect(reading.text()).toBe(':\n\ndata: é\n\n'));
  streams[0]?.end();
  expect(await reading.ended).toBe('whole');
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
])(
  'the streams of a token that is %s end within a second on both gateways, and those of others go on',
  async (_what, end) => {
    const leaver = await newToken(url);
    const authorization = { Authorization: `Bearer ${leaver.token}` };
    // Its Redis is away. No gateway has a connection to NATS.
    const beside = await at.startedBeside({ REDIS_URL: 'redis://127.0.0.1:1' }, { workers: true });
    const [reading, second, other] = await Promise.all([
      open('GET', authorization),
      open('GET', authorization, beside),
      open(),
    ]);
    await end(operatorsDb(url), leaver.id);
    const begun = performance.now();
    // Nothing is written meanwhile, and its service would end each only after ten minutes.
    const ended = Promise.all([reading.ended, second.ended]);
    expect(await Promise.race([ended, sleep(30_000).then(() => 'still open')])).toEqual(['whole', 'whole']);
    expect(performance.now() - begun).toBeLessThan(patient(1_000));
    for (const gateway of [at.gateway, beside])
      expect((await open('GET', authorization, gateway)).answer.statusCode).toBe(401);
    await eventually(() => expect(streams.filter(({ destroyed }) => destroyed)).toHaveLength(2));
    streams.find(({ destroyed }) => !destroyed)?.write('data: on\n\n');
    await eventually(() => expect(other.text()).toContain('data: on'));
    other.leave();
  },
);

test('a refusal is an answer like any other', async () => {
  at.upstream.answer((res) => {
    res.writeHead(429, { 'Content-Type': 'application/json; charset=utf-8' });
    res.end('{"message":"no more"}');
  });
  const answer = await ask('GET', PATH);
  expect(answer).toMatchObject({ status: 429, body: { message: 'no more' } });
  expect(answer.headers.get('content-length')).toBe('21');
});

test('without an answer in time it is refused; only one that has begun may last', async () => {
  at.upstream.answer(() => undefined);
  const { port } = await hasty();
  expect((await ask('GET', PATH, [], '', port)).status).toBe(503);
});

test('HEAD is answered, and ends', async () => {
  at.upstream.answer((res) => res.writeHead(200, { 'Content-Type': 'text/event-stream' }).end());
  const reading = await open('HEAD');
  expect(reading.answer.statusCode).toBe(200);
  expect(await reading.ended).toBe('whole');
});

test('many streams take no connection from other requests, and each ends at the service when its client leaves', async () => {
  const many = await Promise.all(Array.from({ length: 200 }, () => open()));
  at.upstream.answer((res) => res.end('{}'));
  expect((await ask('GET', '/api/webhooks')).status).toBe(200);
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
  const gateway = await startTestGateway(url, at.upstream.url, {}, { workers: true });
  const [reading, other] = await Promise.all([open('GET', {}, gateway), open('GET', {}, gateway)]);
  const begun = performance.now();
  const stopped = gateway.stop();
  expect(await Promise.all([reading.ended, other.ended])).toEqual(['whole', 'whole']);
  await stopped;
  expect(performance.now() - begun).toBeLessThan(6_000);
});

test('a file is passed on as it comes, and one that breaks off is never taken for a whole one', async () => {
  const files: ServerResponse[] = [];
  at.upstream.answer((res) => {
    files.push(res);
    res.writeHead(200, { 'Content-Type': 'text/csv; charset=utf-8', 'Content-Disposition': 'attachment' });
    res.write('a,b\r\n');
  });
  const gateway = await hasty();
  const readings = await Promise.all([0, 1].map(() => open('GET', {}, gateway, '/api/balance-transactions')));
  await eventually(() => expect(readings.map((one) => one.text())).toEqual(['a,b\r\n', 'a,b\r\n']));
  expect(readings[0]?.answer.headers['content-disposition']).toBe('attachment');
  await longerThanAnyAnswer(gateway);
  files[0]?.end('1,2\r\n');
  files[1]?.destroy();
  const ends = await Promise.all(readings.map((one) => one.ended));
  expect(ends.toSorted()).toEqual(['broken off', 'whole']);
  expect(readings[ends.indexOf('whole')]?.text()).toBe('a,b\r\n1,2\r\n');
});
