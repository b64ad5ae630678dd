import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { errorCodes } from '@quittance/shared/error-codes';
import { checkAnswer, checkRequest, checkWebhook } from '@quittance/testkit/documented-answers';
import { Validator } from '@seriousme/openapi-schema-validator';
import { routes } from '../services/gateway/src/domain/routes.ts';
import { eventTypes } from '../services/webhooks/src/domain/event-types.ts';
import { examples, operations } from './openapi/operations.ts';

/** The reference of the API as it is checked in. tools/generated-docs.test.ts shows that it is what the code says. */

const settings = {
  ...{ currency: 'EUR', expires_in: 30, tolerance: '0.5', shop_name: 'Tea House', shop_logo: null },
  ...{ language: 'de', redirect_hosts: ['shop.example'], frame_ancestors: [] },
};

type Schema = { [name: string]: unknown; properties?: Record<string, Schema> };
const document = JSON.parse(
  readFileSync(join(import.meta.dirname, '../services/gateway/openapi.json'), 'utf8'),
) as {
  openapi: string;
  paths: Record<
    string,
    Record<
      string,
      { operationId: string; security?: object[]; requestBody?: object; responses: Record<string, object> }
    >
  >;
  webhooks: Record<
    string,
    {
      post: {
        security: object[];
        requestBody: { content: { 'application/json': { example?: { event: string } } } };
      };
    }
  >;
  components: { schemas: Record<string, Schema>; responses: Record<string, { headers: object }> };
};

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('the document has every path and method of the gateway but those of pages for people and of operators, and no other', () => {
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = routes
    .filter(
      ({ pattern, auth }) => !/^\/(?:pay|link|claim|unsubscribe)\//.test(pattern) && auth !== 'operator',
    )
    .flatMap(({ methods, pattern }) =>
      methods.map((method) => `${method} ${pattern.replace(/:(\w+)/g, '{$1}')}`),
    );
  expect(documented.sort()).toEqual(served.sort());
});

test('an operation needs a token or a session exactly when its route does, and webhooks need none', () => {
  const needs = {
    none: [],
    credentials: [],
    session: [{ session: [] }],
    operator: ['are not documented'],
    token: [{ token: expect.any(Array) }],
  } as const;
  for (const [path, methods] of Object.entries(document.paths)) {
    const pattern = path.replace(/\{(\w+)\}/g, ':$1');
    for (const [method, { security, responses }] of Object.entries(methods)) {
      const route = routes.find(
        (one) => one.pattern === pattern && one.methods.includes(method.toUpperCase()),
      );
      const { auth = 'none' } = route ?? {};
      expect([path, security]).toEqual([path, needs[auth]]);
      if (auth !== 'credentials') expect([path, '401' in responses]).toEqual([path, auth !== 'none']);
    }
  }
  for (const { post } of Object.values(document.webhooks)) expect(post.security).toEqual([]);
});

test('answers and events may have fields that a later version adds, and requests may not', () => {
  const isClosed = (value: unknown) => JSON.stringify(value).includes('"additionalProperties":false');
  const { components, paths, webhooks } = document;
  expect([components, webhooks].some(isClosed)).toBe(false);
  for (const { requestBody, responses } of Object.values(paths).flatMap((methods) =>
    Object.values(methods),
  )) {
    expect(isClosed(responses)).toBe(false);
    if (requestBody !== undefined) expect(isClosed(requestBody)).toBe(true);
  }
});

test('refusals have the headers that the API sends with them', () => {
  const { rate_limited, rate_limited_or_replay_limit, ...others } = document.components.responses;
  const limits = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'RateLimit', 'RateLimit-Policy'];
  for (const response of [rate_limited, rate_limited_or_replay_limit])
    expect(Object.keys(response?.headers ?? {})).toEqual(
      expect.arrayContaining(['Retry-After', 'X-RateLimit-Reset', ...limits]),
    );
  const forbidden = Object.entries(others).filter(([name]) => name.includes('forbidden'));
  expect(forbidden).not.toEqual([]);
  for (const [, { headers }] of forbidden) expect(headers).toHaveProperty('X-Error-Code');
});

test('an invoice cannot be created without an asset or assets', () => {
  const check = (body: object) => () => checkRequest({ method: 'post', path: '/api/invoices', body });
  expect(check({ amount: 25 })).toThrow('is not as documented');
  for (const one of [{ asset: 'ETH' }, { assets: 'all' }])
    expect(check({ amount: 25, ...one })).not.toThrow();
});

test('the document has every event type as a webhook', () => {
  expect(Object.keys(document.webhooks)).toEqual(eventTypes);
});

test('every code of an error is documented with an operation, but that of a wrong method', () => {
  const named = Object.keys(document.components.responses).flatMap((name) => name.split('_or_'));
  expect([...new Set(named), 'method_not_allowed'].sort()).toEqual(Object.keys(errorCodes).sort());
});

/** Each member of an object in a schema, by its path. */
function* members(schema: unknown, path: string): Generator<[string, Schema]> {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'example' || name === 'examples') continue;
    if (name === 'properties' && Object.keys(value as object).length > 0 && !path.endsWith('.properties')) {
      for (const [field, member] of Object.entries(value as Record<string, Schema>))
        yield [`${path}.${field}`, member];
    }
    yield* members(value, `${path}.${name}`);
  }
}

test('every field of requests and answers says what it means, or refers to a schema that does', () => {
  const isNarrowed = (path: string) => path.endsWith('.code') || path.endsWith('.event');
  const silent = [...members(document, '')]
    .filter(([path, member]) => !isNarrowed(path) && member['description'] === undefined)
    .filter(([, member]) => {
      const name = String(member['$ref']).split('/').at(-1) ?? '';
      return document.components.schemas[name]?.['description'] === undefined;
    })
    .map(([path]) => path);
  expect(silent).toEqual([]);
});

test('every operation has an example of its request and of its answer, and no example is of another', () => {
  expect(Object.keys(examples).sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
  for (const { operationId, params, body, answers } of operations) {
    const { [operationId]: example = {} } = examples;
    expect([operationId, Object.keys(example.params ?? {})]).toEqual([
      operationId,
      Object.keys(params?.shape ?? {}),
    ]);
    expect([operationId, example.body !== undefined]).toEqual([
      operationId,
      body !== undefined && Object.keys(body.fields.shape).length > 0,
    ]);
    const hasJson = Object.values(answers)[0]?.json !== undefined;
    expect([operationId, example.answer !== undefined]).toEqual([operationId, hasJson]);
  }
});

test.each(operations.map((operation) => [operation.operationId, operation] as const))(
  'the examples of %s are valid',
  (operationId, { method, path, answers }) => {
    const { body, answer } = examples[operationId] ?? {};
    // eslint-disable-next-line no-restricted-syntax -- a status
    const status = Number(Object.keys(answers)[0]);
    const request = { method, path };
    const check = () => {
      if (body !== undefined) checkRequest({ ...request, body });
      if (answer !== undefined)
        checkAnswer({ ...request, status, contentType: 'application/json', body: answer });
    };
    expect(check).not.toThrow();
  },
);

test('the examples of webhooks are valid', () => {
  const given = Object.values(document.webhooks).flatMap(
    ({ post }) => post.requestBody.content['application/json'].example ?? [],
  );
  expect(given.map(({ event }) => event).sort()).toEqual([
    ...['invoice.created', 'invoice.paid', 'payout.completed', 'webhook.test'],
  ]);
  expect(() => {
    for (const example of given) checkWebhook(JSON.stringify(example));
  }).not.toThrow();
});

test.each([
  ['a field that is not documented', { body: { ...settings, theme: 'dark' } }],
  ['a field that is missing', { body: { ...settings, shop_logo: undefined } }],
  ['a value of another form', { body: { ...settings, tolerance: 0.5 } }],
  ['a status that is not documented', { status: 204 }],
  ['another media type', { contentType: 'text/html' }],
  ['an operation that is not documented', { path: '/api/settings' }],
])('an answer with %s is refused', (_, wrong) => {
  const right = {
    method: 'GET',
    path: '/api/invoice-settings',
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: settings,
  };
  expect(() => checkAnswer(right)).not.toThrow();
  expect(() => checkAnswer({ ...right, ...wrong })).toThrow(/documented|media type/);
});
