import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import { bytesOf, openGatewayPerTest, sendRaw, startTestGateway, startUpstream } from './gateway-fixture.ts';

const at = await openGatewayPerTest();
const { startedBeside, bytes, ask } = at;

const unavailable = { status: 503, body: expect.objectContaining({ message: 'Service Unavailable' }) };
const serverError = { status: 500, body: expect.objectContaining({ message: 'Server Error' }) };

describe('a service that', () => {
  test('is away: 503, whatever was asked, and when it is back it is used again at once', async () => {
    await at.upstream.stop();
    for (const [method, path] of [
      ['GET', '/api/assets'],
      ['POST', '/api/payouts'],
    ] as const) {
      const answer = await ask(method, path, [], method === 'POST' ? '{}' : '');
      expect(answer).toMatchObject(unavailable);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1/);
    }
    at.upstream = await startUpstream(at.upstream.port);
    expect((await ask('GET', '/api/assets')).status).toBe(200);
  });

  test('dies in the middle of a payout: 500, which promises nothing, and it is not asked again', async () => {
    at.upstream.answer((_res, _asked, req) => req.socket.destroy());
    const answer = await ask('POST', '/api/payouts', [], '{}');
    expect(answer).toMatchObject(serverError);
    // The payout may be paid, so the client is not told to repeat it.
    expect(answer.headers.has('retry-after')).toBe(false);
    expect(at.upstream.asked).toHaveLength(1);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['dies in the middle of what only reads', (socket) => socket.destroy()],
    ['answers what is no HTTP', (socket) => socket.end('garbage\r\n\r\n')],
  ])('%s: 503', async (_what, end) => {
    at.upstream.answer((_res, _asked, req) => end(req.socket));
    expect(await ask('GET', '/api/payouts')).toMatchObject(unavailable);
    expect(await ask('HEAD', '/api/payouts')).toMatchObject({ status: 503 });
  });

  test('dies in the middle of its answer: 500, no half answer', async () => {
    at.upstream.answer((res, _asked, req) => {
      res.writeHead(201, { 'Content-Length': 100, 'Content-Type': 'application/json', 'X-Inside': '1' });
      res.write('{"half":');
      setTimeout(() => req.socket.destroy(), 50);
    });
    const answer = await ask('POST', '/api/payouts', [], '{}');
    expect(answer).toMatchObject(serverError);
    expect(answer.headers.has('x-inside')).toBe(false);
  });

  test('does not answer: 500 in time, and its late answer goes nowhere', async () => {
    const { port } = await startedBeside({ REQUEST_TIMEOUT_MS: '700' });
    const late: ServerResponse[] = [];
    at.upstream.answer((res) => late.push(res));
    const start = performance.now();
    expect(await ask('POST', '/api/payouts', [], '{}', port)).toMatchObject(serverError);
    expect(performance.now() - start).toBeGreaterThan(650);
    for (const res of late) res.end('{"late":true}');
    expect(late).toHaveLength(1);
    at.upstream.answer((res) => res.end('{}'));
    expect(await ask('GET', '/api/assets', [], '', port)).toMatchObject({ status: 200, text: '{}' });
  });

  test('answers drop by drop: 503 in time', async () => {
    at.upstream.answer((res) => {
      const drip = setInterval(() => res.write(' '), 100);
      res.on('close', () => clearInterval(drip));
    });
    const { port } = await startedBeside({ REQUEST_TIMEOUT_MS: '700' });
    expect(await ask('GET', '/api/assets', [], '', port)).toMatchObject(unavailable);
  });

  test('has no connection free until it is too late: it is not asked for a client that has been told off', async () => {
    const patient = await startedBeside({ REQUEST_TIMEOUT_MS: '6000' });
    const held: ServerResponse[] = [];
    at.upstream.answer((res) => held.push(res));
    const head = bytes('POST', '/api/payouts', ['Content-Length: 4']);
    const late = connect(patient.port, '127.0.0.1', () => late.write(`${head}la`));
    const told = new Promise<string>((resolve) => late.on('data', (chunk) => resolve(chunk.toString())));
    // The gateway has read its head by the time it answers this: its time runs out before the others' does.
    await once(late, 'connect');
    expect((await sendRaw(patient.port, bytesOf('GET', '/healthz'))).status).toBe(200);
    const others = Array.from({ length: 128 }, () => ask('POST', '/api/payouts', [], '{}', patient.port));
    await eventually(() => expect(held.length).toBe(128), 4_000, 5);
    late.write('te');
    expect(await told).toMatch(/^HTTP\/1.1 503 /);
    for (const res of held.splice(0)) res.end('{}');
    // On a busy machine the time of some of them is up as well.
    for (const { status } of await Promise.all(others)) expect([200, 500]).toContain(status);
    at.upstream.answer((res) => res.end('{}'));
    expect((await ask('POST', '/api/payouts', [], '{}', patient.port)).status).toBe(200);
    expect(at.upstream.asked.map(({ body }) => body)).not.toContain('late');
    late.destroy();
  });

  test('has restarted and closed the kept connection: what only reads is asked again', async () => {
    const { asked, settings } = await rawServer((first) =>
      first ? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}' : undefined,
    );
    const before = await startedBeside(settings);
    expect((await ask('GET', '/api/payouts', [], '', before.port)).status).toBe(200);
    expect((await ask('GET', '/api/payouts', [], '', before.port)).status).toBe(200);
    expect(asked.get).toBe(3);
    // Its connection is kept, unlike that of a second try.
    expect((await ask('GET', '/api/payouts', [], '', before.port)).status).toBe(200);
    expect(await ask('POST', '/api/payouts', [], '{}', before.port)).toMatchObject(serverError);
    expect(asked.post).toBe(1);
  });

  test('has ended and left its connections open, as behind a balancer: what only reads is asked again over a new one', async () => {
    const KEPT = 4;
    let connections = 0;
    const waiting: Socket[] = [];
    const { asked, settings } = await rawServer((first, socket) => {
      if (!first) return undefined;
      if (++connections < KEPT) {
        waiting.push(socket);
        return '';
      }
      // All at once, so that each has a connection of its own, and those are kept.
      const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
      for (const one of waiting.splice(0)) one.write(answer);
      return answer;
    });
    const before = await startedBeside(settings);
    const read = () => ask('GET', '/api/payouts', [], '', before.port);
    const statuses = (await Promise.all(Array.from({ length: KEPT }, read))).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect((await read()).status).toBe(200);
    expect(asked.get).toBe(KEPT + 2);
  });

  test.each(['application/json', 'text/csv'])(
    'is killed while it answers %s: it is not asked again',
    async (type) => {
      const { asked, settings } = await rawServer((_first, socket) => {
        setTimeout(() => socket.resetAndDestroy(), 50);
        return `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\nhalf`;
      });
      const before = await startedBeside(settings);
      const answer = await ask('GET', '/api/payouts', [], '', before.port);
      // Of a file a part is out already.
      if (type === 'application/json') expect(answer).toMatchObject(unavailable);
      expect((await ask('GET', '/api/assets', [], '', before.port)).status).toBe(200);
      expect(asked).toEqual({ get: 1, post: 0 });
    },
  );

  test('is killed before a new connection is answered: what only reads is asked three times, then 503', async () => {
    let lost = 2;
    const { asked, settings } = await rawServer(() => {
      lost -= 1;
      return lost < 0 ? 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}' : undefined;
    });
    const before = await startedBeside(settings);
    expect((await ask('GET', '/api/payouts', [], '', before.port)).status).toBe(200);
    expect(asked.get).toBe(3);
    lost = 10;
    expect(await ask('GET', '/api/payouts', [], '', before.port)).toMatchObject(unavailable);
    expect(asked.get).toBe(6);
    expect(await ask('POST', '/api/payouts', [], '{}', before.port)).toMatchObject(serverError);
    expect(asked.post).toBe(1);
  });
});

test('stopping lets a request in flight end, closes idle connections, and takes no longer than that', async () => {
  const stopping = await startTestGateway(at.url, at.upstream.url);
  at.upstream.answer((res) => setTimeout(() => res.end('{"done":true}'), 300));
  const kept = sendRaw(stopping.port, bytes('GET', '/api/assets').replace('Connection: close\r\n', ''));
  await eventually(() => expect(at.upstream.asked).toHaveLength(1), 10_000, 5);
  const start = performance.now();
  await stopping.stop();
  expect(performance.now() - start).toBeLessThan(6_000);
  expect(await kept).toMatchObject({ status: 200, body: null, text: '{"done":true}' });
});

test('a client that goes away takes its request with it', async () => {
  let closed = 0;
  at.upstream.answer((res) => res.on('close', () => (closed += 1)));
  const socket = connect(at.gateway.port, '127.0.0.1', () => socket.write(bytes('GET', '/api/assets')));
  await eventually(() => expect(at.upstream.asked).toHaveLength(1), 10_000, 5);
  socket.destroy();
  // Sooner than the gateway itself gives it up.
  await eventually(() => expect(closed).toBe(1), 5_000);
});

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** In the place of payouts: it counts what it is asked, and cuts a connection where it is given no answer. */
async function rawServer(answer: (first: boolean, socket: Socket) => string | undefined) {
  const asked = { get: 0, post: 0 };
  const server = createServer((socket) => {
    let first = true;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      asked[text.startsWith('GET') ? 'get' : 'post'] += 1;
      const bytes = answer(first, socket);
      first = false;
      if (bytes === undefined) socket.resetAndDestroy();
      else socket.write(bytes);
    });
    socket.on('error', () => socket.destroy());
  });
  servers.push(server);
  return { asked, settings: { PAYOUTS_URL: `http://127.0.0.1:${await localPort(server)}` } };
}
