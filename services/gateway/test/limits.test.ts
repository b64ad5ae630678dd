import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openDb } from '@quittance/shared/db';
import { createLogger, type Logger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase, testRedis } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { Redis } from 'ioredis';
import { makeToken } from '../src/domain/token.ts';
import { meetTokens, writeTokenUses } from '../src/operations/token-upkeep.ts';
import type { GatewayOptions, GatewayService } from '../src/service.ts';
import { callerReader } from '../src/store/tokens.ts';
import {
  bytesOf,
  newToken,
  sendRaw,
  startTestGateway,
  startUpstream,
  type Upstream,
} from './gateway-fixture.ts';

type RedisServer = Awaited<ReturnType<typeof testRedis>>;

/** What a request may cost more while Redis is in trouble. */
const MORE_MS_MAX = 250;

let database: TestDatabase;
let url: string;
let upstream: Upstream;
const gateways: GatewayService[] = [];

beforeAll(async () => {
  database = await testDatabase();
  url = database.urlOf('gateway');
  upstream = await startUpstream();
});
afterAll(async () => {
  await upstream?.stop();
  await database?.drop();
});
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
});

async function start(settings: Record<string, string>, given: GatewayOptions = {}): Promise<GatewayService> {
  const gateway = await startTestGateway(url, upstream.url, settings, given);
  gateways.push(gateway);
  return gateway;
}

/** A request in a connection that stays open. */
const bytesOfMany = (path: string, headers: readonly string[] = []): string =>
  [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

/** Sends all in one piece, before any is answered. @returns the statuses, in order */
function pipelined(gateway: GatewayService, requests: readonly string[]): Promise<(string | undefined)[]> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect({ port: gateway.port, host: '127.0.0.1' }, () => socket.write(requests.join('')));
    socket.setTimeout(30_000, () =>
      socket.destroy(new Error(`not all were answered: ${answer.slice(-200)}`)),
    );
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
      if (statuses.length < requests.length) return;
      socket.destroy();
      resolve(statuses);
    });
  });
}

const ask = (gateway: GatewayService, token: string, path = '/api/assets') =>
  sendRaw(gateway.port, bytesOf('GET', path, [`Authorization: Bearer ${token}`]));

type Timed = { status: number; ms: number };

async function askTimed(gateway: GatewayService, token: string): Promise<Timed> {
  const start = performance.now();
  const { status } = await ask(gateway, token);
  return { status, ms: performance.now() - start };
}

/** What nine in ten of them took at most: what a busy machine does to a single one says nothing of Redis. */
function mostMs(answers: readonly Timed[]): number {
  const sorted = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.9) - 1] ?? 0;
}

/** One after the other, each with a token of its own. */
async function askInTurn(gateway: GatewayService, requests: number): Promise<Timed[]> {
  const answers: Timed[] = [];
  for (let i = 0; i < requests; i++) answers.push(await askTimed(gateway, (await newToken(url)).token));
  return answers;
}

/** A logger that keeps what it was told. */
function keepingLogger(): { logger: Logger; said: string[] } {
  const said: string[] = [];
  const keep = (...line: unknown[]) => void said.push(String(line.at(-1)));
  return { logger: { debug: keep, info: keep, warn: keep, error: keep } as unknown as Logger, said };
}

describe('with Redis', () => {
  let redis: RedisServer;
  let watching: Redis;
  beforeAll(async () => {
    redis = await testRedis();
    watching = new Redis(redis.url);
    watching.on('error', () => undefined);
  });
  afterAll(async () => {
    watching?.disconnect();
    await redis?.stop();
  });

  const settings = () => ({ REDIS_URL: redis.url, RATE_LIMIT_PER_MINUTE: '30' });
  /** Until its limits are counted in Redis: what it counts before is not asked about here. */
  const connected = async (gateway: GatewayService) => {
    const { token, id } = await newToken(url);
    await eventually(async () => {
      await ask(gateway, token);
      expect(await watching.exists(`limit:token:${id}`)).toBe(1);
    }, 5_000);
    return gateway;
  };

  test('two gateways let 30 a minute through together, whoever is asked', async () => {
    const { logger, said } = keepingLogger();
    const starting = [1, 2].map(() => start(settings(), { logger }).then(connected));
    const pair = await Promise.all(starting);
    const timesAway = () => said.filter((line) => line.startsWith('Redis is away')).length;
    // Both gateways and Redis' client live in this one process: where that is held up Redis seems to be away, and each
    // counts for itself, as it should. Then it is asked again.
    for (let tries = 1; ; tries++) {
      const before = timesAway();
      const answers = await inWaves(pair);
      if (timesAway() > before && tries < 5) {
        await Promise.all(pair.map(connected));
        continue;
      }
      const counted = (status: number) => answers.filter((answer) => answer.status === status).length;
      expect([counted(200), counted(429)]).toEqual([30, 50]);
      const left = answers
        .filter(({ status }) => status === 200)
        .map(({ headers }) => headers.get('x-ratelimit-remaining'));
      expect(new Set(left).size).toBe(30);
      return;
    }
  });

  /** 80 requests with one new token, to each of the gateways in turn. */
  async function inWaves(gateways: readonly GatewayService[]) {
    const { token } = await newToken(url);
    const answers: Awaited<ReturnType<typeof ask>>[] = [];
    for (let wave = 0; wave < 8; wave++) {
      const asked = Array.from({ length: 10 }, (_, i) =>
        ask(gateways[i % gateways.length] as GatewayService, token),
      );
      answers.push(...(await Promise.all(asked)));
    }
    return answers;
  }

  test('a flushed Redis, including its scripts, counts from zero and breaks nothing', async () => {
    const gateway = await connected(await start(settings()));
    const { token, id } = await newToken(url);
    expect((await ask(gateway, token)).headers.get('x-ratelimit-remaining')).toBe('29');
    await watching.flushall();
    await watching.script('FLUSH');
    const answer = await ask(gateway, token);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('29');
    expect(await watching.get(`limit:token:${id}`)).toBe('1');
  });

  test('killed: no 5xx, hardly slower, limits go on in memory, and Redis is used again when it is back', async () => {
    const gateway = await connected(await start({ ...settings(), GATEWAY_REPLICAS: '3' }));
    const usual = mostMs(await askInTurn(gateway, 12));
    // A machine that is busy with other suites may hold one of them up; a gateway that waits does so each time.
    let slowest = Infinity;
    for (let tries = 0; tries < 4 && slowest >= usual + MORE_MS_MAX; tries++) {
      const { token } = await newToken(url);
      await redis.kill();
      const answers = [];
      for (let i = 0; i < 12; i++) answers.push(await askTimed(gateway, token));
      // A third of the limit is this gateway's share.
      expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429, 429]);
      slowest = Math.min(slowest, mostMs(answers));
      await redis.restart();
      await connected(gateway);
    }
    expect(slowest).toBeLessThan(usual + MORE_MS_MAX);
  });

  test('hung: no 5xx, a few requests 200 ms slower, the others not at all; counted again when it goes on', async () => {
    const gateway = await connected(await start(settings()));
    const { token, id } = await newToken(url);
    await ask(gateway, token);
    const usual = await askInTurn(gateway, 30);
    await redis.pause();
    try {
      const answers: Timed[] = [];
      // Long enough for several tries to connect again, each of which Redis leaves hanging.
      const until = performance.now() + 4_000;
      while (performance.now() < until || answers.length < 60) answers.push(...(await askInTurn(gateway, 1)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      const slow = answers.filter(({ ms }) => ms > 150 + mostMs(usual)).length;
      expect(answers.filter(({ ms }) => ms > 150).length).toBeGreaterThanOrEqual(1);
      // Three that Redis keeps waiting, and what a busy machine adds.
      expect(slow).toBeLessThanOrEqual(3 + answers.length / 20);
    } finally {
      await redis.resume();
    }
    await connected(gateway);
    // What was counted before it hung still counts.
    expect(await watching.get(`limit:token:${id}`)).toBe('1');
  });

  test('hung with many at once: each of them has its answer in time', async () => {
    const gateway = await connected(await start(settings()));
    const tokens = await Promise.all(Array.from({ length: 20 }, () => newToken(url)));
    const askAll = () => Promise.all(tokens.map(({ token }) => askTimed(gateway, token)));
    await askAll();
    const usual = mostMs(await askAll());
    // A machine that is busy with other suites may hold one of twenty up; a gateway that waits too long does so each time.
    let slowest = Infinity;
    for (let tries = 0; tries < 4 && slowest >= usual + MORE_MS_MAX; tries++) {
      await redis.pause();
      try {
        const answers = await askAll();
        expect(answers.every(({ status }) => status === 200)).toBe(true);
        slowest = Math.min(slowest, mostMs(answers));
      } finally {
        await redis.resume();
      }
      await connected(gateway);
    }
    expect(slowest).toBeLessThan(usual + MORE_MS_MAX);
  });

  test('not there at the start: it starts, says so, and uses it when it comes', async () => {
    await redis.kill();
    const { logger, said } = keepingLogger();
    const gateway = await start(settings(), { logger });
    const { token } = await newToken(url);
    expect(await ask(gateway, token)).toMatchObject({ status: 200 });
    expect(said).toContain('Redis is away, limits are counted in memory');
    await redis.restart();
    await connected(gateway);
    expect(said).toContain('Redis is back, limits are counted there again');
    // The same trouble is one line, however often it is tried again.
    expect(said.filter((line) => line.startsWith('Redis is away'))).toHaveLength(1);
  });
});

test('which way it counts is said at the start', async () => {
  const { logger, said } = keepingLogger();
  await start({}, { logger });
  expect(said).toContain('limits are counted in memory: set REDIS_URL when there is more than one gateway');
});

test('in memory: 30 a minute, each token for itself', async () => {
  const gateway = await start({ RATE_LIMIT_PER_MINUTE: '30' });
  const [{ token }, { token: other }] = [await newToken(url), await newToken(url)];
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(gateway, token)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(30);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  expect((await ask(gateway, other)).status).toBe(200);
});

test('failing to authenticate too often looks like any 429, and takes nothing from valid tokens', async () => {
  const gateway = await start({ FAILED_AUTH_PER_MINUTE: '5' });
  const { token } = await newToken(url);
  for (let i = 0; i < 5; i++) expect((await ask(gateway, 'guess')).status).toBe(401);
  const refused = await ask(gateway, 'guess');
  expect(refused).toMatchObject({ status: 429, body: { message: 'Too Many Attempts.' } });
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
  expect((await ask(gateway, token)).status).toBe(200);
});

test('it is not got round by a forwarded address of one’s own making', async () => {
  const gateway = await start({ FAILED_AUTH_PER_MINUTE: '2' });
  const statuses = [];
  for (let i = 0; i < 4; i++) {
    const bytes = bytesOf('GET', '/api/assets', [`X-Forwarded-For: 10.0.0.${i}`]);
    statuses.push((await sendRaw(gateway.port, bytes)).status);
  }
  expect(statuses).toEqual([401, 401, 429, 429]);
});

test('payment pages have a limit of their own', async () => {
  const gateway = await start({ PAGES_PER_MINUTE: '3', FAILED_AUTH_PER_MINUTE: '1' });
  const statuses = [];
  for (let i = 0; i < 4; i++)
    statuses.push((await sendRaw(gateway.port, bytesOf('GET', '/pay/inv_1'))).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
});

describe('the database is not asked', () => {
  let db: ReturnType<typeof openDb>;
  let reads = 0;
  beforeAll(() => {
    db = openDb({ url, schema: 'gateway', pool: 2, logger: createLogger('test', 'silent') });
  });
  afterAll(() => db?.close());

  /** A gateway whose reads of tokens are counted. */
  async function startCounting(settings: Record<string, string>): Promise<GatewayService> {
    const read = callerReader(db);
    reads = 0;
    return start(settings, {
      callerOf(hash) {
        reads += 1;
        return read(hash);
      },
    });
  }

  const statusesOf = async (count: number, asked: () => ReturnType<typeof ask>) => {
    const statuses: number[] = [];
    for (let i = 0; i < count; i++) statuses.push((await asked()).status);
    return statuses;
  };
  const unknown = () => makeToken(randomBytes);

  test('for unknown tokens beyond the limit of failures, and known ones are let in meanwhile', async () => {
    const gateway = await startCounting({ FAILED_AUTH_PER_MINUTE: '5' });
    const { token } = await newToken(url);
    expect((await ask(gateway, token)).status).toBe(200);
    expect(await statusesOf(8, () => ask(gateway, unknown()))).toEqual([
      401, 401, 401, 401, 401, 429, 429, 429,
    ]);
    expect(reads).toBe(1 + 5);
    expect((await ask(gateway, token)).status).toBe(200);
  });

  test('for unknown tokens beyond the limit, though all come at once in one connection', async () => {
    const gateway = await startCounting({ FAILED_AUTH_PER_MINUTE: '5' });
    const requests = Array.from({ length: 300 }, () =>
      bytesOfMany('/api/assets', [`Authorization: Bearer ${unknown()}`]),
    );
    const statuses = await pipelined(gateway, requests);
    expect(statuses.filter((status) => status === '401')).toHaveLength(5);
    expect(statuses.filter((status) => status === '429')).toHaveLength(295);
    expect(reads).toBe(5);
  });

  test('for a token in use through another gateway: it is let in, whoever tries unknown ones', async () => {
    const { token } = await newToken(url);
    const first = await startCounting({});
    expect((await ask(first, token)).status).toBe(200);
    await writeTokenUses(first.ports);
    const second = await startCounting({ FAILED_AUTH_PER_MINUTE: '2' });
    await meetTokens(second.ports);
    expect(await statusesOf(4, () => ask(second, unknown()))).toEqual([401, 401, 429, 429]);
    expect((await ask(second, token)).status).toBe(200);
  });

  test('for a token that is over its limit', async () => {
    const gateway = await startCounting({ RATE_LIMIT_PER_MINUTE: '3' });
    const { token } = await newToken(url);
    expect(await statusesOf(7, () => ask(gateway, token))).toEqual([200, 200, 200, 429, 429, 429, 429]);
    expect(reads).toBe(3);
  });

  test('but an unknown token is 401 however often it comes, up to the limit of failures', async () => {
    const gateway = await startCounting({ RATE_LIMIT_PER_MINUTE: '2', FAILED_AUTH_PER_MINUTE: '6' });
    const same = unknown();
    expect(await statusesOf(8, () => ask(gateway, same))).toEqual([401, 401, 401, 401, 401, 401, 429, 429]);
    expect(reads).toBe(6);
  });
});

describe('payment pages', () => {
  const page = async (gateway: GatewayService, id: string, headers: string[] = []) =>
    (await sendRaw(gateway.port, bytesOf('GET', `/pay/${id}`, headers))).status;
  const pages = async (gateway: GatewayService, ids: readonly string[]) => {
    const statuses: number[] = [];
    for (const id of ids) statuses.push(await page(gateway, id));
    return statuses;
  };
  beforeAll(() => {
    upstream.answer((res, { path }) => {
      res.statusCode = path.startsWith('/pay/inv_none') ? 404 : 200;
      res.end('{}');
    });
  });

  test('of one invoice take nothing from those of another, though all customers share an address', async () => {
    const gateway = await start({ PAGES_PER_MINUTE: '3' });
    expect(await pages(gateway, Array(5).fill('inv_a'))).toEqual([200, 200, 200, 429, 429]);
    expect(await pages(gateway, Array(4).fill('inv_b'))).toEqual([200, 200, 200, 429]);
  });

  test('have one count for each invoice, however its id is written', async () => {
    const gateway = await start({ PAGES_PER_MINUTE: '3' });
    expect(await pages(gateway, ['inv_c', '%69nv_c', 'inv_c/', 'inv_c?x', 'inv%5fc'])).toEqual([
      200, 200, 200, 429, 429,
    ]);
  });

  test('that there are not are counted together, and whoever asks for them takes no shown page away', async () => {
    const gateway = await start({ UNKNOWN_PAGES_PER_MINUTE: '3' });
    expect(await page(gateway, 'inv_d')).toBe(200);
    const guesses = Array.from({ length: 6 }, (_, i) => `inv_none${i}`);
    expect(await pages(gateway, guesses)).toEqual([404, 404, 404, 429, 429, 429]);
    expect(await pages(gateway, ['inv_d', 'inv_d'])).toEqual([200, 200]);
  });

  test('that there are not stay within their limit though all are asked for at once in one connection', async () => {
    const gateway = await start({ UNKNOWN_PAGES_PER_MINUTE: '5' });
    upstream.answer((res) => {
      setTimeout(() => {
        res.statusCode = 404;
        res.end('{}');
      }, 50);
    });
    const before = upstream.asked.length;
    const requests = Array.from({ length: 300 }, (_, i) => bytesOfMany(`/pay/inv_none_at_once${i}`));
    const statuses = await pipelined(gateway, requests);
    expect(statuses.filter((status) => status === '404')).toHaveLength(5);
    expect(statuses.filter((status) => status === '429')).toHaveLength(295);
    expect(upstream.asked.length - before).toBe(5);
  });

  test('are counted as unknown when they are answered with an error', async () => {
    const gateway = await start({ UNKNOWN_PAGES_PER_MINUTE: '2' });
    upstream.answer((res) => {
      res.statusCode = 503;
      res.end('{}');
    });
    expect(await pages(gateway, ['inv_e', 'inv_f', 'inv_g'])).toEqual([503, 503, 429]);
  });

  test('of an invoice that was made through the gateway are shown though its client has asked for too many others', async () => {
    const gateway = await start({ UNKNOWN_PAGES_PER_MINUTE: '1' });
    const { token } = await newToken(url);
    upstream.answer((res) => {
      res.statusCode = 404;
      res.end('{}');
    });
    expect(await pages(gateway, ['inv_none1', 'inv_none2', 'inv_made'])).toEqual([404, 429, 429]);
    upstream.answer((res, { method }) => {
      if (method === 'POST') res.setHeader('Location', 'https://shop.example/pay/inv_made');
      res.statusCode = method === 'POST' ? 201 : 200;
      res.end('{}');
    });
    const headers = [`Authorization: Bearer ${token}`];
    expect((await sendRaw(gateway.port, bytesOf('POST', '/api/invoices', headers, '{}'))).status).toBe(201);
    expect(await pages(gateway, ['inv_made', 'inv_none2'])).toEqual([200, 429]);
  });
});
