import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from './clock.ts';
import { isErrorCode } from './error-codes.ts';
import { createApp, finishApp } from './http.ts';
import { acceptsProblem, answers, send } from './http-answers.ts';
import { type Listening, listen } from './http-server.ts';
import { createLogger } from './logger.ts';

let server: Listening;
beforeAll(async () => {
  const logger = createLogger('test', 'silent');
  const parts = { logger, clock: systemClock, waitsFor: async () => [], publicUrl: 'https://pay.example' };
  const app = createApp(parts);
  app.get('/invalid', (_req, res) =>
    send(res, answers.invalid({ asset: [{ message: 'Wrong.', hint: 'Did you mean ETH?' }] })),
  );
  app.get('/stored', (_req, res) =>
    send(res, { status: 400, body: answers.insufficientBalance('0.1 ETH is available.').body }),
  );
  app.get('/forbidden', (_req, res) => send(res, answers.unauthorized));
  app.get('/fine', (_req, res) => send(res, { status: 200, body: { code: 'invalid', fine: true } }));
  finishApp(app, logger);
  server = await listen(app, '127.0.0.1', 0);
});
afterAll(() => server?.close(0));

const get = async (path: string, accept = 'application/json') => {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { accept } });
  const { status, headers } = answer;
  return { status, headers, text: await answer.text(), type: headers.get('content-type') };
};
const doc = (code: string) => `https://pay.example/docs/errors#${code}`;

test('an error says what to do, which request it was and where to read on', async () => {
  const { text, headers, type } = await get('/invalid');
  expect(JSON.parse(text)).toEqual({
    message: 'The given data was invalid.',
    errors: { asset: ['Wrong.'] },
    code: 'invalid_request',
    hint: 'Did you mean ETH?',
    request_id: headers.get('x-request-id'),
    doc_url: doc('invalid_request'),
  });
  expect([type, headers.get('link')]).toEqual([
    'application/json; charset=utf-8',
    `<${doc('invalid_request')}>; rel="help"`,
  ]);
});

test('an answer that was stored names the request that gets it', async () => {
  const sent = [await get('/stored'), await get('/stored')];
  const ids = sent.map(({ text }) => JSON.parse(text).request_id);
  expect(ids).toEqual(sent.map(({ headers }) => headers.get('x-request-id')));
  expect(new Set(ids).size).toBe(2);
});

test('a 403 keeps the body that the contract shows, byte for byte', async () => {
  const { text, headers } = await get('/forbidden');
  expect(text).toBe('{"message":"This action is unauthorized."}');
  expect([headers.get('x-error-code'), headers.get('link')]).toEqual([
    'forbidden',
    `<${doc('forbidden')}>; rel="help"`,
  ]);
});

test('a client that accepts problem+json gets RFC 9457 for every error, and for nothing else', async () => {
  const problem = 'application/problem+json';
  for (const [path, status, code] of [
    ['/invalid', 422, 'invalid_request'],
    ['/forbidden', 403, 'forbidden'],
    ['/nothing', 404, 'route_not_found'],
  ] as const) {
    const { text, type, headers } = await get(path, `application/json, ${problem}`);
    const body = JSON.parse(text);
    expect([type, body]).toEqual([
      problem,
      expect.objectContaining({ type: doc(code), status, title: body.message, detail: body.hint, code }),
    ]);
    expect(body.request_id).toBe(headers.get('x-request-id'));
  }
  const fine = await get('/fine', problem);
  expect([fine.type, fine.text]).toEqual([
    'application/json; charset=utf-8',
    '{"code":"invalid","fine":true}',
  ]);
});

test.each([
  ['application/problem+json', true],
  ['text/html, Application/Problem+JSON;q=0.5', true],
  ['application/problem+json;q=0', false],
  ['application/problem+json; q=0.000', false],
  ['*/*', false],
  ['application/*', false],
  [undefined, false],
])('Accept: %s asks for a problem: %s', (accept, asks) => {
  expect(acceptsProblem(accept)).toBe(asks);
});

test('a name that every object has is no code of an error', () => {
  expect(isErrorCode('toString')).toBe(false);
});
