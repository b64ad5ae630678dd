import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createLogger, type Logger } from '@quittance/shared/logger';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import type { GatewayService } from '../src/service.ts';
import { bytesOf, newToken, openGateways, sendRaw } from './gateway-fixture.ts';

const sockets = new Set<Socket>();
// Before the gateway stops, which waits for them.
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});
const { url, upstream, start } = await openGateways();
let gateway: GatewayService;

/** A logger, and what it has warned of. */
function warnings() {
  const warn = jest.fn();
  const logger = { ...createLogger('test', 'silent'), warn } as unknown as Logger;
  return { logger, about: () => warn.mock.calls.filter(([about]) => typeof about === 'object') };
}

/** A connection that was made; `isOpen` tells whether the gateway has left it so. */
async function open() {
  const socket = connect({ port: gateway.port, host: '127.0.0.1' });
  sockets.add(socket);
  let closed = false;
  let said = '';
  socket.on('close', () => (closed = true));
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => (said += String(chunk)));
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, isOpen: () => !closed, said: () => said };
}

type Connection = Awaited<ReturnType<typeof open>>;

const get = async (connection: Connection) => {
  connection.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually(() => expect(connection.said()).toMatch(/^HTTP\/1\.1 200/));
};

describe('connections', () => {
  test('of one client are so many at a time, and one that ends makes room', async () => {
    const { logger, about } = warnings();
    gateway = await start({ CONNECTIONS_PER_CLIENT: '3' }, { logger });
    const kept = [await open(), await open(), await open()];
    for (const connection of kept) await get(connection);
    const more = await open();
    await eventually(() => expect(more.isOpen()).toBe(false));
    expect(more.said()).toBe('');
    const another = await open();
    await eventually(() => expect(another.isOpen()).toBe(false));
    expect(about()).toEqual([[{ address: '127.0.0.1' }, expect.stringContaining('TRUSTED_PROXIES')]]);
    expect(kept.every((connection) => connection.isOpen())).toBe(true);
    kept[0]?.socket.destroy();
    await eventually(async () =>
      expect((await sendRaw(gateway.port, bytesOf('GET', '/healthz'))).status).toBe(200),
    );
  });

  test('of a trusted proxy are as many as it likes', async () => {
    gateway = await start({
      CONNECTIONS_PER_CLIENT: '1',
      TRUSTED_PROXIES: 'loopback',
    });
    const all = [await open(), await open(), await open()];
    for (const connection of all) await get(connection);
    expect(all.every((connection) => connection.isOpen())).toBe(true);
  });
});

/** Sends a byte of it every few milliseconds, until it is told off. @returns how long it took */
async function trickle(connection: Connection, text: string): Promise<number> {
  const began = performance.now();
  let at = 0;
  const timer = setInterval(() => {
    if (connection.socket.writable && at < text.length) connection.socket.write(text.charAt(at++));
  }, 20);
  try {
    await eventually(() => expect(connection.isOpen()).toBe(false), 30_000);
  } finally {
    clearInterval(timer);
  }
  return performance.now() - began;
}

describe('a request that does not arrive is ended with 408', () => {
  const settings = { READ_TIMEOUT_MS: '500' };
  const within = patient(4_000);

  test('when its body comes byte by byte, and no service hears of it', async () => {
    gateway = await start(settings);
    const { token } = await newToken(url);
    const connection = await open();
    connection.socket.write(
      `POST /api/payouts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 60000\r\n\r\n`,
    );
    expect(await trickle(connection, '{"amount":'.padEnd(60_000))).toBeLessThan(within);
    expect(connection.said()).toMatch(
      /^HTTP\/1\.1 408 [\s\S]*\{"message":"Request Timeout","code":"request_timeout",[^{}]*\}$/,
    );
    expect(upstream.asked).toEqual([]);
  });

  test('when its head comes byte by byte', async () => {
    gateway = await start(settings);
    const connection = await open();
    expect(
      await trickle(connection, `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(9_000)}`),
    ).toBeLessThan(within);
    expect(connection.said()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('when nothing comes at all', async () => {
    gateway = await start(settings);
    const connection = await open();
    expect(await trickle(connection, '')).toBeLessThan(within);
  });

  test('by the time in which a request is answered, where that is shorter', async () => {
    gateway = await start({ REQUEST_TIMEOUT_MS: '400' });
    const { token } = await newToken(url);
    const connection = await open();
    connection.socket.write(
      `POST /api/payouts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 60000\r\n\r\n{`,
    );
    await eventually(() => expect(connection.said()).toMatch(/^HTTP\/1\.1 408 /));
  });

  test('and one that arrives in time is not', async () => {
    gateway = await start(settings);
    const { token } = await newToken(url);
    const held = Promise.withResolvers<ServerResponse>();
    upstream.answer((res) => held.resolve(res));
    const answer = sendRaw(
      gateway.port,
      bytesOf('POST', '/api/payouts', [`Authorization: Bearer ${token}`], '{}'),
    );
    const asked = await held.promise;
    // Its answer takes longer than a request may take to arrive: one that began after it is ended meanwhile.
    const unfinished = await open();
    unfinished.socket.write('GET /healthz HTTP/1.1\r\n');
    await eventually(() => expect(unfinished.said()).toMatch(/^HTTP\/1\.1 408 /));
    asked.end('{"ok":true}');
    expect((await answer).status).toBe(200);
  });
});

describe('a proxy in front that nobody named', () => {
  const warning = expect.stringMatching(
    /^X-Forwarded-For comes from an address that TRUSTED_PROXIES does not name/,
  );
  const pageFrom = (forwardedFor: string) =>
    sendRaw(gateway.port, bytesOf('GET', '/pay/inv_1', [`X-Forwarded-For: ${forwardedFor}`]));
  const readiness = async () => (await sendRaw(gateway.port, bytesOf('GET', '/readyz'))).body;

  test('is warned of once in the log, and in /readyz', async () => {
    const { logger, about } = warnings();
    gateway = await start({}, { logger });
    expect(await readiness()).toEqual({ ready: true, waits_for: [] });
    for (let i = 0; i < 5; i++) await pageFrom(`203.0.113.${i}`);
    expect(about()).toEqual([[{ address: '127.0.0.1' }, expect.any(String)]]);
    expect(await readiness()).toEqual({ ready: true, waits_for: [], warnings: [warning] });
  });

  test('is not, once it is named', async () => {
    const { logger, about } = warnings();
    gateway = await start({ TRUSTED_PROXIES: 'loopback' }, { logger });
    await pageFrom('203.0.113.1');
    expect(about()).toEqual([]);
    expect(await readiness()).toEqual({ ready: true, waits_for: [] });
  });
});
