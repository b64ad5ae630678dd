import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import type { GatewayService } from '../src/service.ts';
import { bytesOf, openGateways, type Raw, sendRaw } from './gateway-fixture.ts';

const { start, upstream } = await openGateways();
let gateway: GatewayService | undefined;
beforeEach(() => {
  gateway = undefined;
});

async function ask(path: string, settings: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  gateway ??= await start(settings);
  return sendRaw(gateway.port, bytesOf(method, path));
}

/** A page as strict as the payment page itself: only its own style, by its hash. */
function expectStrictPage(answer: Raw): void {
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const style = /<style>([\s\S]*)<\/style>/.exec(answer.text)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = answer.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain(`style-src 'sha256-${hash}'`);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
}

test('while the service is away a customer sees a page that asks again', async () => {
  const answer = await ask('/pay/inv_1', { INVOICES_URL: 'http://127.0.0.1:9' });
  expect(answer.status).toBe(503);
  expectStrictPage(answer);
  expect(answer.text).toContain('This page is back in a moment');
  expect(answer.text).toContain('<meta http-equiv="refresh" content="5">');
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  const head = await ask('/pay/inv_1', {}, 'HEAD');
  expect([head.status, head.text]).toEqual([503, '']);
});

test.each([
  ['de-CH, en;q=0.5', 'de', 'ltr', 'Diese Zahlung gibt es nicht'],
  ['ar', 'ar', 'rtl', 'لا توجد دفعة كهذه'],
  ['xx', 'en', 'ltr', 'There is no such payment'],
])('a customer who reads %s sees it in %s', async (asked, language, direction, title) => {
  gateway ??= await start({});
  const answer = await sendRaw(gateway.port, bytesOf('GET', '/pay', [`Accept-Language: ${asked}`]));
  expectStrictPage(answer);
  expect(answer.text).toContain(`<html lang="${language}" dir="${direction}">`);
  expect(answer.text).toContain(`<h1>${title}</h1>`);
  expect(answer.headers.get('content-language')).toBe(language);
  expect(answer.headers.get('vary')).toContain('Accept-Language');
});

test('the service learns which languages a customer reads', async () => {
  gateway ??= await start({});
  await sendRaw(gateway.port, bytesOf('GET', '/pay/inv_1', ['Accept-Language: fr;q=0.8']));
  expect(upstream.asked.at(-1)?.headers['accept-language']).toBe('fr;q=0.8');
});

test('a customer who asked too often sees it too, and it asks again when it may', async () => {
  expect((await ask('/pay/inv_1', { PAGES_PER_MINUTE: '1' })).status).toBe(200);
  const answer = await ask('/pay/inv_1');
  expect(answer.status).toBe(429);
  expectStrictPage(answer);
  const seconds = answer.headers.get('retry-after');
  expect(answer.text).toContain(`<meta http-equiv="refresh" content="${seconds}">`);
  expect(answer.text).toContain(`It comes back by itself in ${seconds} seconds`);
});

test.each([
  '/pay',
  '/pay/',
  '/pay/inv_1/x',
  '/pay/%zz',
  '/pay?x',
  '/link',
  '/link/plink_1/x',
  '/pay/inv_1/choose/x',
])('%s is a page that says so', async (path) => {
  const answer = await ask(path);
  expect(answer.status).toBe(404);
  expectStrictPage(answer);
  expect(answer.text).toContain('There is no such payment');
  expect(answer.text).not.toContain('refresh');
});

test('a request without a host gets a page as well', async () => {
  await ask('/pay/inv_1');
  const answer = await sendRaw(gateway?.port ?? 0, 'GET /pay/inv_1 HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(answer.status).toBe(400);
  expectStrictPage(answer);
});

test.each(['/api/%zz', '/payments', '/'])('%s stays JSON', async (path) => {
  const answer = await ask(path);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    404,
    'application/json; charset=utf-8',
  ]);
});

test('the public keys of an endpoint are read without a token, and limited like a payment page', async () => {
  const settings = { PAGES_PER_MINUTE: '2' };
  const path = '/.well-known/webhooks-public-keys/whe_1';
  const answers = [];
  for (let i = 0; i < 3; i++) answers.push(await ask(path, settings));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers.at(-1)?.body).toMatchObject({ message: 'Too Many Attempts.' });
});

test('a form of a page reaches the service without a token, and no larger than a form is', async () => {
  gateway ??= await start({});
  const type = 'Content-Type: application/x-www-form-urlencoded';
  const post = (path: string, body: string) =>
    sendRaw(gateway?.port ?? 0, bytesOf('POST', path, [type], body));
  const before = upstream.asked.length;
  expect((await post('/pay/inv_1/choose', 'asset=ETH')).status).toBe(200);
  expect((await post('/link/plink_1', 'amount=5')).status).toBe(200);
  expect(upstream.asked.slice(before)).toMatchObject([
    {
      method: 'POST',
      path: '/pay/inv_1/choose',
      body: 'asset=ETH',
      headers: { 'content-type': type.slice(14) },
    },
    { method: 'POST', path: '/link/plink_1', body: 'amount=5' },
  ]);
  for (const path of ['/pay/inv_1/choose', '/link/plink_1']) {
    const answer = await post(path, 'x'.repeat(4_097));
    expect(answer.status).toBe(413);
    expectStrictPage(answer);
    expect(answer.text).toContain('This form cannot be read');
  }
  const refused = await post('/pay/inv_1', 'asset=ETH');
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expectStrictPage(refused);
  expect(upstream.asked).toHaveLength(before + 2);
});

/** A gateway whose service creates an invoice for each payment of a link, and what one client after the other asks it. */
async function linkGateway(settings: Record<string, string>) {
  const limited = await start({ TRUSTED_PROXIES: 'loopback', ...settings });
  const made: string[] = [];
  upstream.answer((res, { method, path }) => {
    res.statusCode = method === 'POST' ? 303 : 200;
    if (path.startsWith('/link/') && method === 'POST')
      res.setHeader('Location', `/pay/inv_of_link${made.push(path)}`);
    res.end('{}');
  });
  const ask = (method: string, path: string, client = '203.0.113.1') =>
    sendRaw(limited.port, bytesOf(method, path, [`X-Forwarded-For: ${client}`]));
  const begin = async (link: string, client?: string) => (await ask('POST', `/link/${link}`, client)).status;
  return { made, ask, begin };
}

test('a client begins only so many payments of one link a minute, and takes none of another link away', async () => {
  const { made, ask, begin } = await linkGateway({ LINK_PAYMENTS_PER_MINUTE: '2' });
  const begun = [];
  for (const link of ['plink_a', 'plink_a', 'plink_a', '%70link_a', 'plink_b']) begun.push(await begin(link));
  expect(begun).toEqual([303, 303, 429, 429, 303]);
  expect(await begin('plink_a', '203.0.113.2')).toBe(303);
  expect(made).toEqual(['/link/plink_a', '/link/plink_a', '/link/plink_b', '/link/plink_a']);
  // Loading a link begins nothing, and is not counted there.
  expect((await ask('GET', '/link/plink_a')).status).toBe(200);

  const refused = await ask('POST', '/link/plink_a');
  expect(refused.status).toBe(429);
  expectStrictPage(refused);
  const seconds = refused.headers.get('retry-after');
  expect(refused.text).toContain('Too many payments were begun here');
  expect(refused.text).toContain(`No payment was begun. The form comes back in ${seconds} seconds`);
  expect(refused.headers.get('ratelimit')).toBe(`"default";r=0;t=${seconds}`);
  expect(refused.headers.get('ratelimit-policy')).toBe('"default";q=2;w=60');
  expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
});

test('all clients together begin only so many payments of one link a minute, and no client uses them up alone', async () => {
  const { made, begin } = await linkGateway({
    LINK_PAYMENTS_PER_MINUTE: '2',
    LINK_PAYMENTS_TOTAL_PER_MINUTE: '3',
  });
  const begun = [];
  for (let i = 0; i < 5; i++) begun.push(await begin('plink_a', '203.0.113.1'));
  begun.push(await begin('plink_a', '203.0.113.2'), await begin('plink_a', '203.0.113.3'));
  expect(begun).toEqual([303, 303, 429, 429, 429, 303, 429]);
  expect(await begin('plink_b', '203.0.113.3')).toBe(303);
  expect(made).toHaveLength(4);
});

test('a payment that is refused keeps no place among the unknown pages of its client', async () => {
  const { begin } = await linkGateway({ LINK_PAYMENTS_TOTAL_PER_MINUTE: '1', UNKNOWN_PAGES_PER_MINUTE: '1' });
  upstream.answer((res) => {
    res.statusCode = 404;
    res.end('{}');
  });
  expect(await begin('plink_none', '203.0.113.1')).toBe(404);
  for (let i = 0; i < 3; i++) expect(await begin('plink_none', '203.0.113.2')).toBe(429);
  expect(await begin('plink_other', '203.0.113.2')).toBe(404);
});

test('a choice counts as a page of its invoice', async () => {
  const { ask } = await linkGateway({ PAGES_PER_MINUTE: '3' });
  const choices = [];
  for (const path of ['choose', 'choose', 'choose/', 'choose'])
    choices.push((await ask('POST', `/pay/inv_x/${path}`)).status);
  expect(choices).toEqual([303, 303, 303, 429]);
});
