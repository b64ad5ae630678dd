import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import { eventually } from '@quittance/testkit/eventually';
import fc from 'fast-check';
import { readEndpointForm } from '../src/http/endpoints.ts';
import { canBePublic, isPublicAddress } from '../src/public-address-guard.ts';
import { createWebhookSender, type WebhookSender, type WebhookSenderOptions } from '../src/webhook-sender.ts';
import { CA, SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts';
import { startDnsServer } from './dns-server.ts';
import { anAccount, anEvent, openFixture } from './fixture.ts';
import { forms, inBrackets, names, PUBLIC, v4Forms, v4InV6 } from './ssrf-forms.ts';

const tls = { cert: SERVER_CERTIFICATE, key: SERVER_KEY };

const isPublic = (address: string) => address === PUBLIC;

/** Counts connections to this machine, with or without TLS: no attempt may reach it. */
let calls = 0;
const servers: Server[] = [];
const senders: WebhookSender[] = [];
const { database, db, receive, deliverAll, insertEndpoints } = await openFixture();

async function listen(server: Server, port: number, host: string): Promise<number> {
  servers.push(server);
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const counted = (server: Server): Server =>
  server.on('connection', () => {
    calls += 1;
  });

const httpPort = await listen(counted(createHttpServer((_, response) => response.end())), 0, '::');
const httpsPort = await listen(counted(createHttpsServer(tls, (_, response) => response.end())), 0, '::');
const dns = await startDnsServer((name, query) => rebinding(name, query) ?? names[name] ?? loopbackOf(name));
const proxy = `http://127.0.0.1:${httpPort}`;
Object.assign(process.env, {
  ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, http_proxy: proxy, https_proxy: proxy },
  ...{ NO_PROXY: '', NODE_USE_ENV_PROXY: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0' },
});
database.finally(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await dns.close();
});
afterEach(async () => {
  calls = 0;
  await Promise.all(senders.splice(0).map((sender) => sender.close()));
});

/** A name that the hosts file knows. */
function loopbackOf(name: string) {
  return name === 'localhost' ? { addresses: ['127.0.0.1', '::1'] } : undefined;
}

/** The first answer is a public address, the next one is this machine. */
function rebinding(name: string, query: number) {
  return name.startsWith('rebinding') ? { addresses: [query === 1 ? PUBLIC : '127.0.0.1'] } : undefined;
}

function aSender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const sender = createWebhookSender({
    publicOnly: true,
    timeoutMs: 5_000,
    dnsServers: [dns.address],
    ca: CA,
    ...options,
  });
  senders.push(sender);
  return sender;
}

/** URLs of a host, with and without a path. */
const urlsOf = (host: string): string[] => [
  `https://${host}:${httpsPort}/`,
  `https://${host}:${httpsPort}/hook?to=https://example.com#@example.com/`,
];

/** How many attempts ended with each result. */
async function attemptAll(urls: readonly string[], sender: WebhookSender): Promise<Record<string, number>> {
  const account = anAccount();
  await insertEndpoints(account, urls);
  await receive(anEvent({ account }));
  await deliverAll({ sender });
  const rows = await db.rows<{ outcome: string; count: number }>(
    `select coalesce(a.failure, 'answered') as outcome, count(*)::int from attempts a
     join endpoints e on e.key = a.endpoint_key where e.account_id = $1 group by 1`,
    [account],
  );
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
}

const toNames = Object.keys(names).flatMap((name) => [name, name.toUpperCase(), `${name}.`]);

test('the list has more than 300 different forms of private addresses', () => {
  expect(new Set([...forms.map(({ host }) => host), ...toNames]).size).toBeGreaterThan(500);
});

test('no form of a private address can be registered', () => {
  const accepted = forms
    .flatMap(({ host }) => [
      `https://${host}:${httpsPort}/`,
      `http://${host}:${httpPort}/`,
      `https://${host}/`,
    ])
    .filter((url) => {
      const read = readEndpointForm({ url }, false);
      if (!read.ok) expect(Object.keys(read.refusal)).toEqual(['url']);
      return read.ok;
    });
  expect(accepted).toEqual([]);
});

test('a private IPv4 address is recognised in each notation', async () => {
  const octet = fc.nat(255);
  const privates = fc.oneof(
    fc.tuple(fc.constantFrom(10, 127), octet, octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  );
  await assertProperty(
    fc.property(privates, (octets) => {
      const hosts = [...v4Forms(octets), ...v4InV6(octets).map(inBrackets)];
      const parsed = hosts.map((host) => `https://${host}/`).filter((url) => URL.canParse(url));
      expect(parsed.length).toBeGreaterThan(20);
      expect(parsed.filter((url) => canBePublic(new URL(url).hostname))).toEqual([]);
    }),
  );
});

test('no form of a private address in the database is connected to', async () => {
  const outcomes = await attemptAll(
    forms.flatMap(({ host }) => urlsOf(host)),
    aSender(),
  );
  expect(Object.values(outcomes).reduce((total, count) => total + count)).toBe(2 * forms.length);
  // Not a URL, a name without an address, or an address that is not public.
  expect(
    Object.keys(outcomes).filter(
      (outcome) => !/^(not_connected|not_resolved|private_address)$/.test(outcome),
    ),
  ).toEqual([]);
  expect(outcomes['private_address']).toBeGreaterThan(700);
  expect(calls).toBe(0);
});

test('no name with a private address is connected to, also with an alias or among public addresses', async () => {
  const outcomes = await attemptAll(
    toNames.flatMap(urlsOf),
    aSender({ isPublic: (address) => isPublic(address) || isPublicAddress(address) }),
  );
  expect(outcomes).toEqual({ private_address: 2 * toNames.length });
  expect(calls).toBe(0);
});

test('without the guard these forms do reach this machine', async () => {
  const sender = aSender({ isPublic: () => true });
  const loopback = forms.filter((form) => form.loopback).map(({ host }) => `https://${host}:${httpsPort}/`);
  await attemptAll(loopback, sender);
  // The others are not URLs. The certificate is of another address, which is found after the connection.
  expect(calls).toBeGreaterThan(0.6 * loopback.length);
  const before = calls;
  // Names too.
  await attemptAll(urlsOf('alias.test'), sender);
  expect(calls).toBeGreaterThan(before);
});

/** A server at the address that the test treats as public. */
async function publicServer(
  heard: (request: IncomingMessage) => void,
  status = 200,
  headers: Record<string, string> = {},
): Promise<number> {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    heard(request);
    response.writeHead(status, { connection: 'close', ...headers }).end();
  };
  return await listen(createHttpsServer(tls, answer), 0, PUBLIC);
}

const order = { headers: { 'content-type': 'application/json' }, body: '{}' };

test('the connection uses the address that was checked, with the name as SNI and Host', async () => {
  const heard: { host: string | undefined; servername: string | false | null; from: string | undefined }[] =
    [];
  const port = await publicServer(({ headers, socket }) => {
    heard.push({
      host: headers.host,
      servername: (socket as TLSSocket).servername,
      from: socket.localAddress,
    });
  });
  // The address after the change: the same port of the loopback address.
  await listen(counted(createHttpsServer(tls, (_, response) => response.end())), port, '127.0.0.1');
  const sender = aSender({ isPublic });
  const url = `https://rebinding.test:${port}/`;
  expect(await sender.send({ ...order, url })).toMatchObject({ kind: 'answered', status: 200 });
  expect(heard).toEqual([{ host: `rebinding.test:${port}`, servername: 'rebinding.test', from: PUBLIC }]);
  expect(dns.asked.get('rebinding.test')).toBe(1);
  // A later attempt resolves the name again, and its new address is refused.
  await eventually(async () => {
    expect(await sender.send({ ...order, url })).toEqual({ kind: 'failed', failure: 'private_address' });
  });
  expect(dns.asked.get('rebinding.test')).toBe(2);
  expect(heard.every(({ from }) => from === PUBLIC)).toBe(true);
  expect(calls).toBe(0);
});

test('a certificate of another name or an unknown authority is refused, whatever the environment says', async () => {
  let heard = 0;
  const port = await publicServer(() => {
    heard += 1;
  });
  const refused = { kind: 'failed', failure: 'not_connected' };
  const resolve = async () => [{ address: PUBLIC, family: 4 }];
  const known = aSender({ isPublic, resolve });
  expect(await known.send({ ...order, url: `https://shop.example:${port}/` })).toEqual(refused);
  const unknown = createWebhookSender({ publicOnly: true, timeoutMs: 5_000, isPublic, resolve });
  senders.push(unknown);
  expect(await unknown.send({ ...order, url: `https://shop.test:${port}/` })).toEqual(refused);
  expect(heard).toBe(0);
  expect(await known.send({ ...order, url: `https://shop.test:${port}/` })).toMatchObject({ status: 200 });
  expect(heard).toBe(1);
});

test('an endpoint that was registered as http in a sandbox is not called or resolved, and its log says why', async () => {
  const asked = dns.asked.size;
  const hosts = ['127.0.0.1', PUBLIC, 'insecure.test'];
  const outcomes = await attemptAll(
    hosts.map((host) => `http://${host}:${httpPort}/`),
    aSender({ isPublic: () => true }),
  );
  expect(outcomes).toEqual({ not_secure: 3 });
  expect(dns.asked.size).toBe(asked);
  expect(calls).toBe(0);
});

test.each([300, 301, 302, 303, 304, 305, 306, 307, 308, 399])(
  'a redirect with status %i is not followed',
  async (status) => {
    for (const location of [
      `http://127.0.0.1:${httpPort}/`,
      `//[::1]:${httpPort}/`,
      `https://localhost:${httpsPort}/`,
    ]) {
      let heard = 0;
      const port = await publicServer(
        () => {
          heard += 1;
        },
        status,
        { location, refresh: `0; url=${location}`, 'content-location': location },
      );
      const result = await aSender({ isPublic, resolve: async () => [{ address: PUBLIC, family: 4 }] }).send({
        ...order,
        url: `https://shop.test:${port}/`,
      });
      expect(result).toMatchObject({ kind: 'answered', status });
      expect(heard).toBe(1);
    }
    expect(calls).toBe(0);
  },
);

test.each(['ftp:', 'file:', 'gopher:', 'ws:', 'unix:', 'data:', 'blob:http:', 'javascript:'])(
  '%s is neither registered nor attempted',
  async (scheme) => {
    for (const url of [`${scheme}//127.0.0.1:${httpPort}/`, `${scheme}127.0.0.1:${httpPort}`]) {
      expect(readEndpointForm({ url }, false)).toMatchObject({ ok: false });
      expect(await aSender().send({ ...order, url })).toMatchObject({ kind: 'failed' });
    }
    expect(calls).toBe(0);
  },
);
