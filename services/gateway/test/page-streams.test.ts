import type { ServerResponse } from 'node:http';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { readStream, type StreamReading } from '@quittance/testkit/stream-reader';
import type { GatewayService } from '../src/service.ts';
import { bytesOf, openGateways, sendRaw } from './gateway-fixture.ts';

/** Customers behind one address, each with a page of their own. */
const CUSTOMERS = 150;

const { start, upstream } = await openGateways();
let gateway: GatewayService;
let streams: ServerResponse[];
const readings: StreamReading[] = [];

beforeEach(() => {
  streams = [];
  upstream.answer((res, { path }) => {
    if (path.includes('unknown')) {
      res.statusCode = 404;
      return void res.end('{}');
    }
    if (path.includes('slow')) return;
    if (!path.includes('/events')) return void res.end('{}');
    streams.push(res);
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    res.write('id: 1\n\n');
  });
});
afterEach(() => {
  for (const { leave } of readings.splice(0)) leave();
});

async function follow(path: string, headers: Record<string, string> = {}): Promise<StreamReading> {
  const reading = await readStream({ port: gateway.port, path, headers });
  readings.push(reading);
  return reading;
}
const load = async (path: string): Promise<number> =>
  (await sendRaw(gateway.port, bytesOf('GET', path))).status;

test('a stream of a page comes as it is written, without a token, and closes its connection at the end', async () => {
  gateway = await start();
  const reading = await follow('/pay/inv_1/events?after=5', { 'Last-Event-ID': '7' });
  expect(reading.answer.statusCode).toBe(200);
  expect(reading.answer.headers).toMatchObject({ 'content-type': 'text/event-stream', connection: 'close' });
  expect(upstream.asked.at(-1)).toMatchObject({
    path: '/pay/inv_1/events?after=5',
    headers: { 'last-event-id': '7' },
  });
  streams[0]?.write('data: changed\n\n');
  await eventually(() => expect(reading.text()).toBe('id: 1\n\ndata: changed\n\n'));
  streams[0]?.end();
  expect(await reading.ended).toBe('whole');
});

test('any number of pages behind one address have their page and their stream at once', async () => {
  gateway = await start({
    CONNECTIONS_PER_CLIENT: '20',
    PAGES_PER_MINUTE: '3',
    UNKNOWN_PAGES_PER_MINUTE: '10',
  });
  for (let i = 0; i < CUSTOMERS; i++) {
    expect(await load(`/pay/inv_${i}`)).toBe(200);
    expect((await follow(`/pay/inv_${i}/events`)).answer.statusCode).toBe(200);
  }
  expect(streams.filter(({ destroyed }) => !destroyed)).toHaveLength(CUSTOMERS);
  // Each has read its page since it was told of a change.
  for (const [i, stream] of streams.entries()) {
    stream.write('data: changed\n\n');
    await eventually(() => expect(readings[i]?.text()).toContain('changed'));
    expect(await load(`/pay/inv_${i}`)).toBe(200);
  }
});

test('after a restart the streams of all pages open again, as none of them is known', async () => {
  gateway = await start({ CONNECTIONS_PER_CLIENT: '20', UNKNOWN_PAGES_PER_MINUTE: '10' });
  for (let i = 0; i < CUSTOMERS; i++) {
    expect((await follow(`/pay/inv_${i}/events`)).answer.statusCode).toBe(200);
  }
  expect(streams.filter(({ destroyed }) => !destroyed)).toHaveLength(CUSTOMERS);
});

test('whoever guesses invoices is limited, and takes no page and no stream away from others there', async () => {
  gateway = await start({ UNKNOWN_PAGES_PER_MINUTE: '10' });
  expect(await load('/pay/inv_1')).toBe(200);
  const guessed = [];
  for (let i = 0; i < 15; i++) guessed.push(await load(`/pay/unknown_${i}${i % 2 === 0 ? '/events' : ''}`));
  expect(guessed).toEqual([...Array(10).fill(404), ...Array(5).fill(429)]);
  expect(await load('/pay/inv_1')).toBe(200);
  expect((await follow('/pay/inv_1/events')).answer.statusCode).toBe(200);
});

test('the streams of one page count as the page', async () => {
  gateway = await start({ PAGES_PER_MINUTE: '2' });
  const statuses = [await load('/pay/inv_1')];
  for (let i = 0; i < 2; i++) statuses.push((await follow('/pay/inv_1/events')).answer.statusCode ?? 0);
  expect(statuses).toEqual([200, 200, 429]);
});

test('connections that carry no stream count as before, also those of a page', async () => {
  gateway = await start({ CONNECTIONS_PER_CLIENT: '2' });
  const agent = new Agent({ keepAlive: true });
  const kept = () =>
    new Promise<number | undefined>((resolve) => {
      const asked = request({ host: '127.0.0.1', port: gateway.port, path: '/pay/inv_1', agent });
      asked.on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)));
      asked.on('error', () => resolve(undefined));
      asked.end();
    });
  expect(await Promise.all([kept(), kept()])).toEqual([200, 200]);
  await expect(readStream({ port: gateway.port, path: '/pay/inv_1/events' })).rejects.toThrow();
  agent.destroy();
  await eventually(async () => expect((await follow('/pay/inv_1/events')).answer.statusCode).toBe(200));
});

test('a connection on which no stream can be read counts as before: of HEAD, and behind an answer that is not read', async () => {
  for (const first of ['HEAD /pay/inv_1/events', 'GET /pay/inv_slow']) {
    gateway = await start({ CONNECTIONS_PER_CLIENT: '1' });
    const begun = streams.length;
    const socket = connect({ port: gateway.port, host: '127.0.0.1' });
    const asked = [first, 'GET /pay/inv_1/events'].map((line) => `${line} HTTP/1.1\r\nHost: x\r\n\r\n`);
    socket.write(asked.join(''));
    await eventually(() => expect(streams.length).toBeGreaterThan(begun));
    await expect(readStream({ port: gateway.port, path: '/pay/inv_1/events' })).rejects.toThrow();
    socket.destroy();
  }
});

test('the files of pages are not counted', async () => {
  gateway = await start({ PAGES_PER_MINUTE: '1', UNKNOWN_PAGES_PER_MINUTE: '1' });
  for (let i = 0; i < 5; i++) expect(await load('/pay/assets/modal.js')).toBe(200);
});

test('files that there are not count as unknown pages, and take no file and no page away from others there', async () => {
  gateway = await start({ PAGES_PER_MINUTE: '2', UNKNOWN_PAGES_PER_MINUTE: '10' });
  expect([await load('/pay/inv_1'), await load('/pay/assets/modal.js')]).toEqual([200, 200]);
  const guessed = [];
  for (let i = 0; i < 15; i++) guessed.push(await load(`/pay/${i % 2 === 0 ? 'assets/' : ''}unknown_${i}`));
  expect(guessed).toEqual([...Array(10).fill(404), ...Array(5).fill(429)]);
  // A page that has the name of a known file is an unknown page.
  expect([await load('/pay/assets/modal.js'), await load('/pay/modal.js')]).toEqual([200, 429]);
  expect(await load('/pay/inv_1')).toBe(200);
});

test('a client has a number of streams at once, and its further pages are told to look by themselves', async () => {
  gateway = await start({ PAGE_STREAMS_PER_CLIENT: '2', TRUSTED_PROXIES: 'loopback' });
  const from = (address: string) => ({ 'X-Forwarded-For': address });
  const statusOf = async (path: string, address: string) =>
    (await follow(path, from(address))).answer.statusCode ?? 0;
  const open = () => gateway.ports.pageStreams.count();
  // What is refused by the service does not stay counted.
  expect(await statusOf('/pay/unknown_1/events', '192.0.2.1')).toBe(404);
  await eventually(() => expect(open()).toBe(0));
  expect([
    await statusOf('/pay/inv_1/events', '192.0.2.1'),
    await statusOf('/pay/inv_2/events', '192.0.2.1'),
  ]).toEqual([200, 200]);
  const refused = await follow('/pay/inv_3/events', from('192.0.2.1'));
  expect([refused.answer.statusCode, refused.answer.headers['retry-after']]).toEqual([429, '30']);
  expect(refused.answer.headers['content-type']).toContain('text/html');
  // Its pages themselves go on, and another client behind the same proxy has its stream.
  const page = await sendRaw(gateway.port, bytesOf('GET', '/pay/inv_3', ['X-Forwarded-For: 192.0.2.1']));
  expect(page.status).toBe(200);
  expect(await statusOf('/pay/inv_4/events', '192.0.2.2')).toBe(200);
  expect(open()).toBe(3);
  readings[1]?.leave();
  await eventually(() => expect(open()).toBe(2));
  expect(await statusOf('/pay/inv_3/events', '192.0.2.1')).toBe(200);
});

test('a stream that the service refuses is a page with its time to wait', async () => {
  gateway = await start();
  upstream.answer((res) =>
    res.writeHead(503, { 'Retry-After': '30', 'Content-Type': 'text/html' }).end('later'),
  );
  const { status, headers, text } = await sendRaw(gateway.port, bytesOf('GET', '/pay/inv_1/events'));
  expect([status, headers.get('retry-after'), text]).toEqual([503, '30', 'later']);
});
