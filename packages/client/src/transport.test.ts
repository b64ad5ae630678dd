import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, test } from '@jest/globals';
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  QuittanceError,
  RateLimitError,
  ServerError,
  UnavailableError,
} from './errors.ts';
import { type Call, path, Transport } from './transport.ts';

type Asked = { method: string; url: string; headers: IncomingHttpHeaders; body: string };
type Respond = (response: ServerResponse) => void;

let server: Server;
let asked: Asked[];
/** How the next requests are answered, in this order; the last stays. */
let script: Respond[];
let url: string;

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Respond =>
  (response) =>
    void response
      .writeHead(status, { 'Content-Type': 'application/json', ...headers })
      .end(JSON.stringify(body));
const soon = { 'Retry-After': '0' };
const ok = json(200, { data: { id: 'inv_1' } });
const breaksOff: Respond = (response) => void response.destroy();
const breaksOffInTheBody: Respond = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
  response.write('{"data":');
  setTimeout(() => response.destroy(), 20);
};

beforeEach(async () => {
  asked = [];
  script = [ok];
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      const respond = script.length > 1 ? script.shift() : script[0];
      respond?.(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const transport = (options: object = {}) => new Transport({ url, token: 'qt_token', ...options });
const get: Call = { method: 'GET', path: '/api/assets' };
const create: Call = { method: 'POST', path: '/api/invoices', body: { amount: '25' }, takesKey: true };
const cancel: Call = { method: 'POST', path: '/api/invoices/inv_1/cancel' };
const keys = () => asked.map(({ headers }) => headers['idempotency-key']);
const failure = async (call: Call, options?: object): Promise<QuittanceError> =>
  await transport(options)
    .data(call)
    .then(
      () => {
        throw new Error('it did not fail');
      },
      (error: QuittanceError) => error,
    );

describe('a request', () => {
  it('has the token, what is accepted, and who asks', async () => {
    expect(await transport({ userAgent: 'my-shop/1.2' }).data(get)).toEqual({ id: 'inv_1' });
    expect(asked[0]).toMatchObject({
      method: 'GET',
      url: '/api/assets',
      headers: { authorization: 'Bearer qt_token', accept: 'application/json' },
    });
    expect(asked[0]?.headers['user-agent']).toMatch(/^my-shop\/1\.2 quittance-client\/\d/);
    expect(asked[0]?.headers['content-type']).toBeUndefined();
  });

  it('has a query without what is not given, and a body in JSON', async () => {
    const created_from = new Date('2026-01-02T03:04:05Z');
    await transport().json({
      ...get,
      query: { created_from, status: undefined, kinds: ['a', 'b'], page: 2 },
    });
    expect(asked[0]?.url).toBe('/api/assets?created_from=2026-01-02T03%3A04%3A05.000Z&kinds=a%2Cb&page=2');
    await transport().data(create);
    expect(asked[1]).toMatchObject({ method: 'POST', body: '{"amount":"25"}' });
    expect(asked[1]?.headers['content-type']).toBe('application/json');
  });

  it('keeps the path of the url, with and without /api', async () => {
    for (const end of ['', '/', '/api', '/api/', '/pay', '/pay/api/'])
      await transport({ url: url + end }).data(get);
    const [plain, below] = ['/api/assets', '/pay/api/assets'];
    expect(asked.map((one) => one.url)).toEqual([plain, plain, plain, plain, below, below]);
  });

  it('needs a url and a token', () => {
    for (const wrong of ['pay.example.com', 'ftp://x', '', undefined, 'https://me:pw@x.example'])
      expect(() => transport({ url: wrong })).toThrow('give { url, token }');
    for (const wrong of ['', undefined])
      expect(() => transport({ token: wrong })).toThrow('give { url, token }');
  });

  it('shows its token nowhere', async () => {
    const { inspect } = await import('node:util');
    expect(inspect(transport(), { depth: 9, showHidden: true })).not.toContain('qt_token');
    script = [json(500, { message: 'Server Error' })];
    expect(inspect(await failure(get, { maxRetries: 0 }), { depth: 9, showHidden: true })).not.toContain(
      'qt_token',
    );
  });

  test('an id leads to no other path', () => {
    expect(path`/api/invoices/${'../payouts?x=1#'}/cancel`).toBe(
      '/api/invoices/..%2Fpayouts%3Fx%3D1%23/cancel',
    );
    for (const wrong of ['', '.', '..']) expect(() => path`/api/invoices/${wrong}`).toThrow('is no id');
  });
});

describe('an error', () => {
  it.each([
    [400, InvalidRequestError, 'insufficient_balance'],
    [401, AuthenticationError, undefined],
    [403, PermissionError, undefined],
    [404, NotFoundError, 'not_found'],
    [409, ConflictError, 'already_resolved'],
    [422, InvalidRequestError, 'invalid_request'],
    [429, RateLimitError, 'rate_limited'],
    [500, ServerError, 'internal_error'],
    [503, UnavailableError, 'unavailable'],
  ])('of status %i has a class of its own', async (status, kind, code) => {
    script = [json(status, { message: 'No.', ...(code && { code }) }, { 'X-Request-Id': 'req_1' })];
    const error = await failure(create, { maxRetries: 0 });
    expect(error).toBeInstanceOf(kind);
    expect(error).toBeInstanceOf(QuittanceError);
    expect(error).toMatchObject({ status, name: kind.name, requestId: 'req_1', message: 'No.' });
    expect(error.idempotencyKey).toBe(keys()[0]);
  });

  it('says what to do, and what is wrong with each field', async () => {
    const errors = { asset: ['The selected asset is invalid.'] };
    script = [
      json(422, {
        message: 'The given data was invalid.',
        ...{ errors, code: 'invalid_request', hint: 'Did you mean BTC?' },
        ...{ request_id: 'req_2', doc_url: 'https://x/docs/errors#invalid_request' },
      }),
    ];
    expect(await failure(create)).toMatchObject({
      message: 'The given data was invalid. Did you mean BTC?',
      ...{ code: 'invalid_request', hint: 'Did you mean BTC?', errors, requestId: 'req_2' },
      docUrl: 'https://x/docs/errors#invalid_request',
    });
  });

  it('has what the API says in headers alone', async () => {
    const challenge = 'Bearer error="invalid_token", error_description="The token is unknown."';
    script = [json(401, { message: 'Unauthenticated.' }, { 'WWW-Authenticate': challenge })];
    expect(await failure(get)).toMatchObject({ code: 'unauthenticated', hint: 'The token is unknown.' });
    script = [json(403, { message: 'This action is unauthorized.' }, { 'X-Error-Code': 'forbidden' })];
    expect(await failure(get)).toMatchObject({ code: 'forbidden' });
  });

  it('tells of an answer that is not of Quittance', async () => {
    script = [(response) => void response.writeHead(200).end('<html>Welcome</html>')];
    expect((await failure(get)).message).toBe(
      'The answer is no JSON: <html>Welcome</html> Check the url: the API of Quittance must answer there.',
    );
    script = [(response) => void response.writeHead(502).end('<html>Bad gateway</html>')];
    expect(await failure(get, { maxRetries: 0 })).toMatchObject({ status: 502, name: 'ServerError' });
    script = [(response) => void response.writeHead(301, { Location: 'https://other.example/' }).end()];
    expect((await failure(create)).message).toContain('check the url. https://other.example/');
    expect(asked).toHaveLength(3);
  });
});

describe('a request that failed is sent again', () => {
  const inProgress = json(409, { message: 'Still running.', code: 'request_in_progress' }, soon);

  it.each<[string, Respond]>([
    ['429', json(429, { message: 'Too Many Attempts.', code: 'rate_limited' }, soon)],
    ['500', json(500, { message: 'Server Error', code: 'internal_error' }, soon)],
    ['502', json(502, {}, soon)],
    ['503', json(503, { message: 'Service Unavailable', code: 'unavailable' }, soon)],
    ['409 of a first request that is running', inProgress],
    ['a connection that ended before the answer', breaksOff],
    ['an answer that was cut off', breaksOffInTheBody],
  ])('with the same key and body after %s', async (_what, fails) => {
    script = [fails, fails, ok];
    expect(await transport().data(create)).toEqual({ id: 'inv_1' });
    expect(asked).toHaveLength(3);
    expect(new Set(asked.map(({ body }) => body)).size).toBe(1);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('with a key of its own for each request, or the one that is given', async () => {
    await transport().data(create);
    await transport().data(create);
    await transport().data({ ...create, options: { idempotencyKey: 'order 7' } });
    await transport().data({ ...cancel, options: { idempotencyKey: 'order 7' } });
    expect(new Set(keys()).size).toBe(4);
    expect(keys().slice(2)).toEqual(['order 7', undefined]);
  });

  it('not when it has no key and may have arrived', async () => {
    for (const fails of [
      breaksOff,
      breaksOffInTheBody,
      json(500, {}, soon),
      json(503, {}, soon),
      json(502, {}, soon),
    ]) {
      asked = [];
      script = [fails, ok];
      await failure(cancel);
      expect(asked).toHaveLength(1);
    }
  });

  it('without a key when the API says that nothing was done', async () => {
    for (const [status, code] of [
      [429, 'rate_limited'],
      [503, 'unavailable'],
    ] as const) {
      script = [json(status, { message: 'No.', code }, soon), ok];
      expect(await transport().data(cancel)).toEqual({ id: 'inv_1' });
    }
    expect(asked).toHaveLength(4);
  });

  it('without a key when nobody took the connection', async () => {
    const { port } = server.address() as AddressInfo;
    server.close();
    server.closeAllConnections();
    await new Promise((resolve) => setTimeout(resolve, 20));
    setTimeout(() => server.listen(port, '127.0.0.1'), 100);
    const call = transport({ maxRetries: 10 }).data(cancel);
    expect(await call).toEqual({ id: 'inv_1' });
    expect(asked).toHaveLength(1);
  });

  it('at most so many times', async () => {
    script = [json(503, { message: 'No.', code: 'unavailable' }, soon)];
    await failure(create, { maxRetries: 2 });
    expect(asked).toHaveLength(3);
    await failure({ ...create, options: { maxRetries: 0 } });
    expect(asked).toHaveLength(4);
  });

  it('not when it is wrong, and not when it would have to wait for long', async () => {
    for (const fails of [
      json(422, {}),
      json(409, { code: 'conflict' }),
      json(429, { code: 'replay_limit' }, { 'Retry-After': '3600' }),
    ]) {
      script = [fails, ok];
      asked = [];
      const error = await failure(create);
      expect(asked).toHaveLength(1);
      if (error.status === 429) expect(error.retryAfterSeconds).toBe(3_600);
    }
  });
});

describe('time', () => {
  it('is over when no answer comes', async () => {
    script = [() => undefined];
    const error = await failure(get, { timeoutMs: 50, maxRetries: 1 });
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'timed_out', message: `No answer of ${url} within 50 ms.` });
    expect(asked).toHaveLength(2);
  });

  it('is over when a body does not end', async () => {
    script = [(response) => void response.writeHead(200).write('{')];
    expect(await failure(get, { timeoutMs: 50, maxRetries: 0 })).toMatchObject({ code: 'timed_out' });
  });

  it('is over when the caller says so, also while it waits to repeat', async () => {
    const reason = new Error('the customer left');
    for (const respond of [() => undefined, json(503, { code: 'unavailable' }, { 'Retry-After': '30' })]) {
      script = [respond];
      asked = [];
      const controller = new AbortController();
      setTimeout(() => controller.abort(reason), 50);
      await expect(transport().data({ ...create, options: { signal: controller.signal } })).rejects.toBe(
        reason,
      );
      expect(asked).toHaveLength(1);
    }
    asked = [];
    await expect(transport().data({ ...get, options: { signal: AbortSignal.abort(reason) } })).rejects.toBe(
      reason,
    );
    expect(asked).toHaveLength(0);
  });

  it('tells a server that is not there', async () => {
    const free = createTcpServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const error = await failure(get, { url: `http://127.0.0.1:${port}`, maxRetries: 0 });
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.code).toBe('not_connected');
    expect(error.message).toContain(`ECONNREFUSED 127.0.0.1:${port}`);
  });
});
