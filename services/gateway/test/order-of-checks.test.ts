import { describe, expect, test } from '@jest/globals';
import { bytesOf, newToken, openGateways, sendRaw } from './gateway-fixture.ts';

/** The contract's order: route and verb, then token, then limit, then length; only then a service is asked. */

const { url, upstream, startForAll } = await openGateways();
const gateway = await startForAll({ RATE_LIMIT_PER_MINUTE: '3' });

const ask = (method: string, path: string, headers: readonly string[] = [], body = '') =>
  sendRaw(gateway.port, bytesOf(method, path, headers, body));
const bearer = (token: string) => `Authorization: Bearer ${token}`;
const unauthenticated = { message: 'Unauthenticated.' };
const large = 'x'.repeat(64 * 1024 + 1);

describe('first: route and verb', () => {
  test.each([
    ['/api/nothing', 'api/nothing'],
    ['/api/invoices/1/2', 'api/invoices/1/2'],
    ['/api/nothing?a=b', 'api/nothing'],
    ['/', '/'],
    ['http://localhost/api/nothing', 'api/nothing'],
  ])('%s is not found, with or without a token', async (path, named) => {
    const { token } = await newToken(url);
    for (const headers of [[], [bearer(token)], [bearer('forged')]]) {
      const answer = await ask('GET', path, headers);
      expect(answer).toMatchObject({
        status: 404,
        body: { message: `The route ${named} could not be found.` },
      });
      expect(answer.headers.has('x-ratelimit-limit')).toBe(false);
    }
  });

  test('a wrong verb says which are right, before it asks for a token or looks at a body', async () => {
    const answer = await ask('DELETE', '/api/invoices', [], large);
    expect(answer).toMatchObject({
      status: 405,
      body: {
        message: 'The DELETE method is not supported for this route. Supported methods: GET, HEAD, POST.',
      },
    });
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
  });

  test('HEAD is told without a body', async () => {
    const answer = await ask('HEAD', '/api/nothing');
    expect(answer.status).toBe(404);
    expect(answer.text).toBe('');
  });
});

describe('second: whose request it is', () => {
  test.each<[string, string[]]>([
    ['no header', []],
    ['an empty one', ['Authorization:']],
    ['another scheme', ['Authorization: Basic dXNlcjpwYXNz']],
    ['a scheme without a token', ['Authorization: Bearer ']],
    ['a token without a scheme', ['Authorization: qt_x']],
    ['a token of the wrong form', ['Authorization: Bearer qt_x']],
    ['a JWT', ['Authorization: Bearer a.b.c']],
    ['a token in another header', ['X-Api-Key: qt_x']],
  ])('%s', async (_, headers) => {
    const resources = ['invoices', 'payouts', 'balances', 'assets', 'webhooks', 'events/stream'];
    for (const path of resources.map((name) => `/api/${name}`)) {
      expect(await ask('GET', path, headers)).toMatchObject({ status: 401, body: unauthenticated });
    }
    expect(upstream.asked).toEqual([]);
  });

  test('is asked before how long the body is', async () => {
    expect(await ask('POST', '/api/payouts', [], large)).toMatchObject({ status: 401 });
  });

  test('an unauthenticated answer says nothing of limits', async () => {
    const answer = await ask('GET', '/api/assets');
    expect([...answer.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  });
});

describe('third: how many there were', () => {
  test('the fourth of three is refused, though its body is too long', async () => {
    const { token } = await newToken(url);
    for (const left of ['2', '1', '0']) {
      const answer = await ask('GET', '/api/assets', [bearer(token)]);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-ratelimit-limit')).toBe('3');
      expect(answer.headers.get('x-ratelimit-remaining')).toBe(left);
      expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=3;w=60');
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"default";r=${left};t=\\d+$`));
    }
    const refused = await ask('POST', '/api/payouts', [bearer(token)], large);
    expect(refused).toMatchObject({ status: 429, body: { message: 'Too Many Attempts.' } });
    expect(refused.headers.get('x-ratelimit-limit')).toBe('3');
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    // eslint-disable-next-line no-restricted-syntax -- seconds
    const wait = Number.parseInt(refused.headers.get('retry-after') ?? '', 10);
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    // eslint-disable-next-line no-restricted-syntax -- seconds
    const reset = Number.parseInt(refused.headers.get('x-ratelimit-reset') ?? '', 10);
    expect(Math.abs(reset - (Date.now() / 1000 + wait))).toBeLessThan(2);
    expect(upstream.asked).toHaveLength(3);
  });

  test('answers of services that are errors carry the headers too', async () => {
    const { token } = await newToken(url);
    upstream.answer((res) => {
      res.statusCode = 422;
      res.setHeader('X-RateLimit-Remaining', '999');
      res.end('{}');
    });
    const answer = await ask('GET', '/api/assets', [bearer(token)]);
    expect(answer.status).toBe(422);
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('2');
  });
});

describe('fourth: how long it is', () => {
  const tooLarge = expect.objectContaining({ message: 'The body must not be greater than 64 kilobytes.' });

  const chunk = (length: number) => `${length.toString(16)}\r\n${'y'.repeat(length)}\r\n`;

  test.each<[number, string, number]>([
    [64 * 1024, 'with a Content-Length', 200],
    [64 * 1024 + 1, 'with a Content-Length', 413],
    [10 * 1024 * 1024, 'with a Content-Length', 413],
    [64 * 1024, 'in chunks', 200],
    [64 * 1024 + 1, 'in chunks', 413],
    [1024 * 1024, 'in chunks', 413],
  ])('%d bytes %s: %d', async (size, how, status) => {
    const { token } = await newToken(url);
    const headers = [bearer(token), ...(how === 'in chunks' ? ['Transfer-Encoding: chunked'] : [])];
    const bytes =
      how === 'in chunks'
        ? `${bytesOf('POST', '/api/payouts', headers)}${chunk(1)}${chunk(size - 1)}0\r\n\r\n`
        : bytesOf('POST', '/api/payouts', headers, 'x'.repeat(size));
    const answer = await sendRaw(gateway.port, bytes);
    expect(answer.status).toBe(status);
    expect(upstream.asked.map(({ body }) => body.length)).toEqual(status === 200 ? [size] : []);
    if (status === 413) expect(answer.body).toEqual(tooLarge);
    if (status === 413) expect(answer.headers.get('x-ratelimit-remaining')).toBe('2');
  });

  test('a Content-Length alone is enough for a refusal', async () => {
    const { token } = await newToken(url);
    const head = bytesOf('POST', '/api/payouts', [bearer(token), 'Content-Length: 99999999']);
    expect(await sendRaw(gateway.port, head)).toMatchObject({ status: 413, body: tooLarge });
  });

  test('a client that asks before it sends is told to send, and then answered', async () => {
    const { token } = await newToken(url);
    const head = bytesOf('POST', '/api/payouts', [
      bearer(token),
      'Expect: 100-continue',
      'Content-Length: 2',
    ]);
    const answer = await sendRaw(gateway.port, `${head}{}`);
    expect(answer.status).toBe(200);
    expect(upstream.asked).toMatchObject([{ body: '{}' }]);
  });
});

/** More of them are in smuggling-forms.ts. */
describe('what is no request at all', () => {
  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['no Host', 'GET /api/assets HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['a header of 20 kB', bytesOf('GET', '/api/assets', [`X-Long: ${'x'.repeat(20_000)}`]), 431],
    ['a path of 20 kB', bytesOf('GET', `/api/assets?${'x'.repeat(20_000)}`), 431],
  ])('%s', async (_, bytes, status) => {
    const answer = await sendRaw(gateway.port, bytes);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual(expect.objectContaining({ message: expect.any(String) }));
    expect(upstream.asked).toEqual([]);
  });

  test('HTTP/1.0 needs no Host', async () => {
    expect((await sendRaw(gateway.port, 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});

test('healthz and readyz need no token', async () => {
  expect(await ask('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await ask('GET', '/readyz')).toMatchObject({ status: 200, body: { ready: true, waits_for: [] } });
  expect((await ask('HEAD', '/healthz')).status).toBe(200);
});
