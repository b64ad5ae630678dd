import { createServer, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
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
import { type Call, Transport } from './transport.ts';

type Respond = (response: ServerResponse) => void;

let api: Receiver;
/** How the next requests are answered, in this order; the last stays. */
let script: Respond[];

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
  api = await startReceiver();
  script = [ok];
  api.answer((response) => {
    const [respond, ...others] = script;
    if (others.length > 0) script = others;
    respond?.(response);
  });
});
afterEach(() => api.close());

const transport = (options: object = {}) => new Transport({ url: api.url, token: 'qt_token', ...options });
const get: Call = { method: 'GET', path: '/api/assets' };
const create: Call = { method: 'POST', path: '/api/invoices', body: { amount: '25' }, takesKey: true };
const cancel: Call = { method: 'POST', path: '/api/invoices/inv_1/cancel' };
const keys = () => api.received.map(({ headers }) => headers['idempotency-key']);
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
    expect(api.received[0]).toMatchObject({
      method: 'GET',
      path: '/api/assets',
      headers: { authorization: 'Bearer qt_token', accept: 'application/json' },
    });
    expect(api.received[0]?.headers['user-agent']).toMatch(/^my-shop\/1\.2 quittance-client\/\d/);
    expect(api.received[0]?.headers['content-type']).toBeUndefined();
  });

  it('has a query without what is not given, and a body in JSON', async () => {
    const created_from = new Date('2026-01-02T03:04:05Z');
    await transport().json({
      ...get,
      query: { created_from, status: undefined, kinds: ['a', 'b'], page: 2 },
    });
    expect(api.received[0]?.path).toBe(
      '/api/assets?created_from=2026-01-02T03%3A04%3A05.000Z&kinds=a%2Cb&page=2',
    );
    await transport().data(create);
    expect(api.received[1]).toMatchObject({ method: 'POST', body: '{"amount":"25"}' });
    expect(api.received[1]?.headers['content-type']).toBe('application/json');
  });

  it('keeps the path of the url, with and without /api', async () => {
    for (const end of ['', '/', '/api', '/api/', '/pay', '/pay/api/'])
      await transport({ url: api.url + end }).data(get);
    const [plain, below] = ['/api/assets', '/pay/api/assets'];
    expect(api.received.map((one) => one.path)).toEqual([plain, plain, plain, plain, below, below]);
  });

  it('shows its token nowhere', async () => {
    const { inspect } = await import('node:util');
    expect(inspect(transport(), { depth: 9, showHidden: true })).not.toContain('qt_token');
    script = [json(500, { message: 'Server Error' })];
    expect(inspect(await failure(get, { maxRetries: 0 }), { depth: 9, showHidden: true })).not.toContain(
      'qt_token',
    );
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
    expect(api.received).toHaveLength(3);
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
    expect(api.received).toHaveLength(3);
    expect(new Set(api.received.map(({ body }) => body)).size).toBe(1);
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
      api.received.length = 0;
      script = [fails, ok];
      await failure(cancel);
      expect(api.received).toHaveLength(1);
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
    expect(api.received).toHaveLength(4);
  });

  it('without a key when nobody took the connection', async () => {
    const port = await freePort();
    let arrived = 0;
    const late = createServer((_request, response) => {
      arrived += 1;
      ok(response);
    });
    setTimeout(() => late.listen(port, '127.0.0.1'), 100);
    const call = transport({ url: `http://127.0.0.1:${port}`, maxRetries: 10 }).data(cancel);
    expect(await call).toEqual({ id: 'inv_1' });
    late.close();
    expect(arrived).toBe(1);
  });

  it('at most so many times', async () => {
    script = [json(503, { message: 'No.', code: 'unavailable' }, soon)];
    await failure(create, { maxRetries: 2 });
    expect(api.received).toHaveLength(3);
    await failure({ ...create, options: { maxRetries: 0 } });
    expect(api.received).toHaveLength(4);
  });

  it('not when it is wrong, and not when it would have to wait for long', async () => {
    for (const fails of [
      json(422, {}),
      json(409, { code: 'conflict' }),
      json(429, { code: 'replay_limit' }, { 'Retry-After': '3600' }),
    ]) {
      script = [fails, ok];
      api.received.length = 0;
      const error = await failure(create);
      expect(api.received).toHaveLength(1);
      if (error.status === 429) expect(error.retryAfterSeconds).toBe(3_600);
    }
  });
});

describe('time', () => {
  it('is over when no answer comes', async () => {
    script = [() => undefined];
    const error = await failure(get, { timeoutMs: 50, maxRetries: 1 });
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'timed_out', message: `No answer of ${api.url} within 50 ms.` });
    expect(api.received).toHaveLength(2);
  });

  it('is over when a body does not end', async () => {
    script = [(response) => void response.writeHead(200).write('{')];
    expect(await failure(get, { timeoutMs: 50, maxRetries: 0 })).toMatchObject({ code: 'timed_out' });
  });

  it('is over when the caller says so, also while it waits to repeat', async () => {
    const reason = new Error('the customer left');
    for (const respond of [() => undefined, json(503, { code: 'unavailable' }, { 'Retry-After': '30' })]) {
      script = [respond];
      api.received.length = 0;
      const controller = new AbortController();
      setTimeout(() => controller.abort(reason), 50);
      await expect(transport().data({ ...create, options: { signal: controller.signal } })).rejects.toBe(
        reason,
      );
      expect(api.received).toHaveLength(1);
    }
    api.received.length = 0;
    await expect(transport().data({ ...get, options: { signal: AbortSignal.abort(reason) } })).rejects.toBe(
      reason,
    );
    expect(api.received).toHaveLength(0);
  });

  it('tells a server that is not there', async () => {
    const port = await freePort();
    const error = await failure(get, { url: `http://127.0.0.1:${port}`, maxRetries: 0 });
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.code).toBe('not_connected');
    expect(error.message).toContain(`ECONNREFUSED 127.0.0.1:${port}`);
  });
});
