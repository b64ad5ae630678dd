import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { errorCodes } from '@quittance/shared/error-codes';
import { checkAnswer, checkRequest } from '@quittance/testkit/documented-answers';
import { Validator } from '@seriousme/openapi-schema-validator';
import { routes } from '../services/gateway/src/domain/routes.ts';
import { eventTypes } from '../services/webhooks/src/domain/event-types.ts';
import { examples, operations } from './openapi/operations.ts';

/** The reference of the API as it is checked in. tools/generated-docs.test.ts shows that it is what the code says. */

type Schema = { [name: string]: unknown; properties?: Record<string, Schema> };
const document = JSON.parse(
  readFileSync(join(import.meta.dirname, '../services/gateway/openapi.json'), 'utf8'),
) as {
  openapi: string;
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, object> }>>;
  webhooks: object;
  components: { schemas: Record<string, Schema>; responses: Record<string, object> };
};

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('the document has every path and method of the gateway below /api, and no other', () => {
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = routes
    .filter(({ pattern }) => pattern.startsWith('/api/'))
    .flatMap(({ methods, pattern }) =>
      methods.map((method) => `${method} ${pattern.replace(/:(\w+)/g, '{$1}')}`),
    );
  expect(documented.sort()).toEqual(served.sort());
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
    const [status = ''] = Object.keys(answers);
    const request = { method, path };
    if (body !== undefined) checkRequest({ ...request, body });
    if (answer === undefined) return;
    const contentType = 'application/json';
    // eslint-disable-next-line no-restricted-syntax -- a status
    checkAnswer({ ...request, status: Number(status), contentType, body: answer });
  },
);
