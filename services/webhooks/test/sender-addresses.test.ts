import type { LookupAddress } from 'node:dns';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { openSenderFixture, order } from './sender-fixture.ts';

const { receiver, aSender, rawServer, listening } = await openSenderFixture();

test('an unreachable host, an unknown name and a missing TLS are failures', async () => {
  const server = createServer();
  const { port } = await listening(server);
  await new Promise((closed) => server.close(closed));
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
