import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { makeToken } from '../src/domain/token.ts';
import { limitAccount } from '../src/operations/accounts.ts';
import { meetTokens, writeTokenUses } from '../src/operations/token-upkeep.ts';
import type { GatewayService } from '../src/service.ts';
import { callerReader } from '../src/store/tokens.ts';
import { bytesOf, newToken, openGateways, operatorsDb, sendRaw } from './gateway-fixture.ts';

const { url, upstream, start } = await openGateways();

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

/** The statuses of so many requests, one after the other. */
async function statusesOf(count: number, asked: (i: number) => ReturnType<typeof ask>): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) statuses.push((await asked(i)).status);
  return statuses;
}

test('in memory: 30 a minute, each token for itself', async () => {
  const gateway = await start({ RATE_LIMIT_PER_MINUTE: '30' });
  const [{ token }, { token: other }] = [await newToken(url), await newToken(url)];
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(gateway, token)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(30);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  expect((await ask(gateway, other)).status).toBe(200);
});

describe('an account with a limit of its own', () => {
  const db = operatorsDb(url);
  const limited = (account: string, requestsPerMinute: number | null) =>
    limitAccount({ db }, { account, requestsPerMinute, actor: 'ann' });
  const statuses = (gateway: GatewayService, token: string, count: number) =>
    statusesOf(count, () => ask(gateway, token));

  test('may send so many requests with each token, and the headers show it', async () => {
    const gateway = await start({ RATE_LIMIT_PER_MINUTE: '2' });
    const [shop, other] = [await newToken(url), await newToken(url)];
    await limited(shop.account, 4);
    const { headers } = await ask(gateway, shop.token);
    expect(headers.get('ratelimit-policy')).toBe('"default";q=4;w=60');
    expect(headers.get('ratelimit')).toBe('"default";r=3;t=60');
    expect(headers.get('x-ratelimit-limit')).toBe('4');
    expect(await statuses(gateway, shop.token, 4)).toEqual([200, 200, 200, 429]);
    expect(await statuses(gateway, other.token, 3)).toEqual([200, 200, 429]);
  });

  test('has a lower limit from the next request on, and a higher one when the gateway reads the tokens in use', async () => {
    const gateways = [
      await start({ RATE_LIMIT_PER_MINUTE: '3' }),
      await start({ RATE_LIMIT_PER_MINUTE: '3' }),
    ];
    const { token, account } = await newToken(url);
    for (const gateway of gateways) expect(await statuses(gateway, token, 2)).toEqual([200, 200]);
    await limited(account, 1);
    for (const gateway of gateways) expect(await statuses(gateway, token, 2)).toEqual([200, 429]);
    await limited(account, 5);
    for (const gateway of gateways) {
      expect(await statuses(gateway, token, 1)).toEqual([429]);
      await writeTokenUses(gateway.ports);
      await meetTokens(gateway.ports);
      expect(await statuses(gateway, token, 1)).toEqual([200]);
    }
  });

  test('is named in the audit log for each change, by whoever made it', async () => {
    const { account } = await newToken(url);
    for (const limit of [600, 600, null]) expect((await limited(account, limit)).ok).toBe(true);
    expect(await limited('nobody', 5)).toEqual({ ok: false, refusal: 'no_such_account' });
    await expect(limited(account, 0)).rejects.toThrow('accounts_requests_per_minute_valid');
    const lines = await db.rows(
      `select actor, detail from audit_log where account_id = $1 and action = 'account.limit_changed' order by seq`,
      [account],
    );
    expect(lines).toEqual([
      { actor: 'ann', detail: '600' },
      { actor: 'ann', detail: 'default' },
    ]);
  });
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
  const from = (i: number) => bytesOf('GET', '/api/assets', [`X-Forwarded-For: 10.0.0.${i}`]);
  expect(await statusesOf(4, (i) => sendRaw(gateway.port, from(i)))).toEqual([401, 401, 429, 429]);
});

describe('the database is not asked', () => {
  const db = operatorsDb(url);
  let reads = 0;

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
  const pages = (gateway: GatewayService, ids: readonly string[]) =>
    statusesOf(ids.length, (i) => sendRaw(gateway.port, bytesOf('GET', `/pay/${ids[i]}`)));
  beforeEach(() => {
    upstream.answer((res, { path }) => {
      res.statusCode = path.startsWith('/pay/inv_none') ? 404 : 200;
      res.end('{}');
    });
  });

  test('of one invoice have a limit of their own and take nothing from those of another, though all customers share an address', async () => {
    const gateway = await start({ PAGES_PER_MINUTE: '3', FAILED_AUTH_PER_MINUTE: '1' });
    expect(await pages(gateway, Array(5).fill('inv_a'))).toEqual([200, 200, 200, 429, 429]);
    expect(await pages(gateway, Array(4).fill('inv_b'))).toEqual([200, 200, 200, 429]);
  });

  test('have one count for each invoice, however its id is written', async () => {
    const gateway = await start({ PAGES_PER_MINUTE: '3' });
    expect(await pages(gateway, ['inv_c', '%69nv_c', 'inv_c/', 'inv_c?x', 'inv%5fc'])).toEqual([
      200, 200, 200, 429, 429,
    ]);
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

  test('of claim links are counted like those of invoices, with the addresses that are sent to them', async () => {
    const gateway = await start({ PAGES_PER_MINUTE: '3', UNKNOWN_PAGES_PER_MINUTE: '2' });
    upstream.answer((res, { path }) => {
      res.statusCode = path.startsWith('/claim/none') ? 404 : 303;
      res.end();
    });
    const claim = async (token: string, method: string) =>
      (await sendRaw(gateway.port, bytesOf(method, `/claim/${token}`, [], 'address=x'))).status;
    const statuses = [];
    for (const method of ['POST', 'GET', 'POST', 'POST']) statuses.push(await claim('known', method));
    for (const token of ['none1', 'none2', 'none3']) statuses.push(await claim(token, 'POST'));
    expect(statuses).toEqual([303, 303, 303, 429, 404, 404, 429]);
    const refused = await sendRaw(gateway.port, bytesOf('GET', '/claim/none4'));
    expect(refused.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('of an invoice that was made through the gateway are shown though its client has asked for too many others', async () => {
    const gateway = await start({ UNKNOWN_PAGES_PER_MINUTE: '1' });
    const { token } = await newToken(url);
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
