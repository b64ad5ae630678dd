import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeEach } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import { IDENTITY_HEADER, verifyIdentity } from '@quittance/shared/identity';
import { createLogger } from '@quittance/shared/logger';
import { gatewayKeys, gatewayPublicKeys } from '@quittance/testkit/api';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { configSchema, type GatewayConfig } from '../src/config.ts';
import type { TokenLimits } from '../src/domain/token-limits.ts';
import { createAccount, createToken } from '../src/operations/accounts.ts';
import { type GatewayOptions, type GatewayService, startGateway } from '../src/service.ts';

/** What a service of these tests was asked. */
export type Asked = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
};

type Respond = (res: ServerResponse, asked: Asked, req: IncomingMessage) => void;
export type Upstream = Awaited<ReturnType<typeof startUpstream>>;

const receivers = ['invoices', 'payouts', 'ledger', 'webhooks', 'auditor', 'sandbox'] as const;

/** The services for which the gateway has signed a request, of which there is one at most, and what it asserts. */
export const signedFor = ({ method, path, headers }: Asked) =>
  receivers.flatMap((receiver) => {
    const request = { receiver, method, path };
    const assertion = verifyIdentity(gatewayPublicKeys, headers[IDENTITY_HEADER], request, new Date());
    return typeof assertion === 'object' ? [{ receiver, assertion }] : [];
  });

/** Plays a service behind the gateway. */
export async function startUpstream(port = 0) {
  const asked: Asked[] = [];
  const ok = (res: ServerResponse) => {
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.end('{"ok":true}');
  };
  let respond: Respond = ok;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = req;
      const one = { method, path: url, headers, rawHeaders, body: Buffer.concat(chunks).toString('utf8') };
      asked.push(one);
      respond(res, one, req);
    });
  });
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    asked,
    /** How the next requests are answered, once their body is there; `{"ok":true}` at first. */
    answer(next: Respond) {
      respond = next;
    },
    /** Forgets what it was asked, and answers as at first. */
    beginAgain() {
      asked.length = 0;
      respond = ok;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A gateway whose services are all played by one upstream. Limits are out of the way unless a test sets them. */
export function startTestGateway(
  databaseUrl: string,
  upstream: string,
  settings: Record<string, string> = {},
  given: GatewayOptions = {},
): Promise<GatewayService> {
  const config = testConfig(databaseUrl, upstream, settings);
  return startGateway(config, { workers: false, ...given });
}

const urls = receivers.map((name) => `${name.toUpperCase()}_URL`);
const limits = Object.keys(configSchema.shape).filter((name) => name.endsWith('_PER_MINUTE'));
const allOf = (names: readonly string[], value: string) =>
  Object.fromEntries(names.map((name) => [name, value]));

function testConfig(databaseUrl: string, upstream: string, settings: Record<string, string>): GatewayConfig {
  const given = configSchema.parse({
    PORT: '1',
    DATABASE_URL: databaseUrl,
    GATEWAY_PRIVATE_KEY: gatewayKeys.privateKey,
    PUBLIC_URL: 'http://localhost',
    ...allOf(urls, upstream),
    LOG_LEVEL: 'silent',
    ...allOf(limits, '100000'),
    ...settings,
  });
  // Any free port: what no operator may ask for.
  return { ...given, PORT: 0 };
}

/** A new account with a token, or one more token of an account. */
export async function newToken(
  databaseUrl: string,
  { account: of, ...limits }: Partial<TokenLimits> & { account?: string } = {},
) {
  const ports = { db: operatorsDb(databaseUrl), clock: systemClock };
  const account = of ?? (await newAccount(ports));
  const token = await createToken(ports, { ...limits, account, name: 'test', actor: 'test' });
  if (!token.ok) throw new Error(token.refusal);
  return { account, token: token.value.token, id: token.value.id };
}

async function newAccount(ports: Parameters<typeof createAccount>[0]): Promise<string> {
  const name = `shop ${Math.random().toString(36).slice(2)}`;
  const account = await createAccount(ports, { name, actor: 'test' });
  if (!account.ok) throw new Error(account.refusal);
  return account.value.id;
}

const opened = new Map<string, Db>();
afterAll(() => Promise.all([...opened.values()].map((db) => db.close())));

/** For what an operator does beside the gateways; closed at the end of the suite. */
export function operatorsDb(url: string): Db {
  const logger = createLogger('test', 'silent');
  const db = opened.get(url) ?? openDb({ url, schema: 'gateway', pool: 4, logger });
  opened.set(url, db);
  return db;
}

export type Raw = { status: number; headers: Map<string, string>; text: string; body: unknown };

/** Sends bytes as they are and reads the answers until the other side closes. */
export function sendRaw(port: number, bytes: string | Buffer): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(bytes));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : undefined));
    socket.on('close', () => resolve(readRaw(Buffer.concat(chunks).toString('utf8'))));
  });
}

function readRaw(all: string): Raw {
  // An interim "100 Continue" is not the answer.
  const answer = all.replace(/^(HTTP\/1\.1 1\d\d [^\r]*\r\n\r\n)+/, '');
  const at = answer.indexOf('\r\n\r\n');
  const [first = '', ...lines] = answer.slice(0, at).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const text = answer.slice(at + 4);
  const isJson = headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  return {
    // eslint-disable-next-line no-restricted-syntax -- a status
    status: Number.parseInt(first.split(' ')[1] ?? '', 10),
    headers,
    text,
    body: isJson ? JSON.parse(text) : null,
  };
}

/** A request's bytes; the connection is closed after it. */
export function bytesOf(method: string, path: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, ...length];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** For one suite: a database, and an upstream that plays the services, and begins again with each test. */
export async function openGateways() {
  const database = await suiteDatabase();
  const url = database.urlOf('gateway');
  const upstream = await startUpstream();
  database.finally(upstream.stop);
  beforeEach(upstream.beginAgain);
  const asAdmin = database.openAsAdmin('gateway');
  const gateways: GatewayService[] = [];
  afterEach(async () => {
    await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  });
  return {
    url,
    upstream,
    /** For what the role of the gateway may not do. */
    asAdmin,
    /** The last step-up of the person was eleven minutes ago. */
    endStepUp: (person: string) =>
      asAdmin.rows(
        `update gateway.sessions set stepped_up_at = now() - interval '11 minutes' where person_id = $1`,
        [person],
      ),
    /** A gateway that stops after its test. */
    async start(
      settings: Record<string, string> = {},
      given: GatewayOptions = {},
      to: Upstream = upstream,
    ): Promise<GatewayService> {
      const gateway = await startTestGateway(url, to.url, settings, given);
      gateways.push(gateway);
      return gateway;
    },
    /** A gateway of all tests of the suite. */
    async startForAll(
      settings: Record<string, string> = {},
      given: GatewayOptions = {},
    ): Promise<GatewayService> {
      const gateway = await startTestGateway(url, upstream.url, settings, given);
      database.finally(gateway.stop);
      return gateway;
    },
  };
}

/** For one suite: a database with a shop’s token, and for each test its own upstream and its own gateway before it. */
export async function openGatewayPerTest(settings: Record<string, string> = {}, given: GatewayOptions = {}) {
  const { url, start } = await openGateways();
  const shop = await newToken(url);
  /** Both are of the present test. */
  const at = {} as { upstream: Upstream; gateway: GatewayService };
  beforeEach(async () => {
    at.upstream = await startUpstream();
    at.gateway = await start(settings, given, at.upstream);
  });
  afterEach(() => at.upstream.stop());
  /** A request with the shop’s token, in bytes. */
  const bytes = (method: string, path: string, headers: readonly string[] = [], body = '') =>
    bytesOf(method, path, [`Authorization: Bearer ${shop.token}`, ...headers], body);
  return Object.assign(at, {
    url,
    shop,
    /** A second gateway in front of the same services, for one test. */
    startedBeside: (own: Record<string, string>, options: GatewayOptions = {}) =>
      start(own, options, at.upstream),
    bytes,
    ask: (method: string, path: string, headers: readonly string[] = [], body = '', port = at.gateway.port) =>
      sendRaw(port, bytes(method, path, headers, body)),
  });
}
