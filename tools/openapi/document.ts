import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '@quittance/shared/error-codes';
import {
  type DocumentedAnswer,
  errorsOfAll,
  type Fields,
  type Operation,
  tags,
} from '@quittance/shared/reference';
import type { z } from 'zod';
import { ANY_TOKEN, type Scope } from '../../services/gateway/src/domain/scopes.ts';
import { invoiceWithUnresolved } from '../../services/invoices/src/reference/invoice-schemas.ts';
import {
  eventDescriptions,
  eventTypes,
  type WebhookEventType,
} from '../../services/webhooks/src/domain/event-types.ts';
import { dataOfEvent, eventOf, testData } from '../../services/webhooks/src/reference/event-schemas.ts';
import { errorResponses, errorSchemas, rateLimitHeaders } from './errors.ts';
import { type Components, type JsonSchema, open, schemaOf, withoutNull } from './json-schema.ts';
import { examples, operations } from './operations.ts';
import { scopeOf, scopeParts, securitySchemes } from './security.ts';

/** The reference of the API as OpenAPI 3.1, from the forms that validate and the schemas of the answers. */

const headers = {
  'X-Request-Id': 'Names the answer in the logs of the operator.',
  'X-RateLimit-Limit': 'How many requests a minute the token may send.',
  'X-RateLimit-Remaining': 'How many of them are left.',
  'X-RateLimit-Reset': 'When counting starts again, in seconds since 1970.',
  RateLimit: 'The same as in draft-ietf-httpapi-ratelimit-headers.',
  'RateLimit-Policy': 'The limit as in draft-ietf-httpapi-ratelimit-headers.',
  'Retry-After': 'After how many seconds to send the request again.',
  'X-Error-Code': 'The code of an error whose body has a message alone.',
  'WWW-Authenticate': 'Why the token is not valid (RFC 6750).',
  'Idempotent-Replayed': '`true` when this is the answer of an earlier request with the same key.',
  Location: 'The payment page.',
} as const;

const headerRefs = (names: readonly (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

function parametersOf(
  where: 'path' | 'query' | 'header',
  fields: Fields | undefined,
  example: Readonly<Record<string, string | number>> = {},
): object[] {
  if (fields === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(fields, {}) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = withoutNull(schema);
    const isList = rest['type'] === 'array';
    return {
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      description,
      // Values of a list are separated by commas.
      ...(isList && { style: 'form', explode: false }),
      schema: rest,
      ...(example[name] !== undefined && { example: example[name] }),
    };
  });
}

/** Bodies that are texts, by media type, with what each is. */
const textContent = (others: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(others).map(([type, description]) => [type, { schema: { type: 'string', description } }]),
  );

function bodyOf(
  { fields, required, either, others = {} }: NonNullable<Operation['body']>,
  components: Components,
  example: object | undefined,
) {
  const schema = {
    ...schemaOf(fields, components),
    // As `anyOf`, programs that make types of schemas take it for a body of any form.
    ...(either && { if: { required: [either[0]] }, else: { required: [either[1]] } }),
  };
  const json = { schema, ...(example && { example }) };
  return { required, content: { 'application/json': json, ...textContent(others) } };
}

function answerOf(
  { description, json, others = {}, headers: more = [] }: DocumentedAnswer,
  components: Components,
  { example, auth }: { example: unknown; auth: Operation['auth'] },
) {
  return {
    description,
    // Without a token, only a refusal has those of the limit.
    headers: headerRefs([
      'X-Request-Id',
      ...(auth === 'none' || auth === 'credentials' ? [] : rateLimitHeaders),
      ...more,
    ]),
    content: {
      ...(json && {
        'application/json': {
          schema: open(schemaOf(json, components)),
          ...(example !== undefined && { example }),
        },
      }),
      ...textContent(others),
    },
  };
}

/** Of a token that may not do what was asked; one without its scope there is only where one is needed. */
const errorsOfToken = (needed: Scope | typeof ANY_TOKEN | undefined): ErrorCode[] => [
  ...(needed === undefined ? [] : ['address_not_allowed' as const]),
  ...(needed === undefined || needed === ANY_TOKEN ? [] : ['missing_scope' as const]),
];

function operationOf(operation: Operation, components: Components, responses: Record<string, object>) {
  const { operationId, tag, summary, auth, params, query } = operation;
  const { headers: given, body, answers } = operation;
  const example = examples[operationId] ?? {};
  const needed = scopeOf(operation);
  const parameters = [
    ...parametersOf('path', params, example.params),
    ...parametersOf('query', query, example.query),
    ...parametersOf('header', given, example.headers),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    ...scopeParts(needed, operation),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: bodyOf(body, components, example.body) }),
    responses: {
      ...Object.fromEntries(
        // The example is of the usual answer, which comes first.
        Object.entries(answers).map(([status, answer], place) => [
          status,
          answerOf(answer, components, { example: place === 0 ? example.answer : undefined, auth }),
        ]),
      ),
      ...errorResponses(
        [
          ...errorsOfAll.filter(
            (code) => auth === undefined || auth === 'session' || code !== 'unauthenticated',
          ),
          ...(auth === undefined || auth === 'session' ? ['other_account' as const] : []),
          ...errorsOfToken(needed),
          ...operation.errors,
        ],
        responses,
      ),
    },
  };
}

/** The descriptions of events are Markdown with links for docs/webhooks.md. */
const withoutLinks = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');

const signatureHeaders = {
  'webhook-id': 'The id of the event: the same for every attempt.',
  'webhook-timestamp': 'When the attempt was made, in seconds since 1970.',
  'webhook-signature': 'The signatures of the body, by the scheme of Standard Webhooks.',
};

/** Of events whose resource has an example in their state. */
const exampleData: Partial<Record<WebhookEventType, unknown>> = {
  'invoice.created': (examples['createInvoice']?.answer as { data: unknown } | undefined)?.data,
  'invoice.paid': examples['getInvoice']?.answer,
  'payout.completed': examples['getPayout']?.answer,
};

function eventExample(type: WebhookEventType): { example?: object } {
  const event = examples['getEvent']?.answer as object;
  if (type === 'webhook.test') return { example: event };
  const data = exampleData[type];
  return data === undefined ? {} : { example: { ...event, event: type, data } };
}

function webhookOf(type: WebhookEventType, components: Components) {
  const { when, meaning, remedy } = eventDescriptions[type];
  const name = type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    post: {
      operationId: `on${name}`,
      tags: ['Events'],
      summary: withoutLinks(when),
      description: withoutLinks(`${meaning} ${remedy}`),
      // What proves it is the signature.
      security: [],
      parameters: Object.entries(signatureHeaders).map(([header, description]) => ({
        name: header,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: open(schemaOf(eventOf([type], dataOfEvent(type)), components)),
            ...eventExample(type),
          },
        },
      },
      responses: { '2XX': { description: 'The event has arrived. Anything else is tried again.' } },
    },
  };
}

const { version, license } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
) as { version: string; license: string };

function openApiDocument(): object {
  const schemas: Components = { ...errorSchemas };
  const responses: Record<string, object> = {};
  const named: readonly z.ZodType[] = [testData, invoiceWithUnresolved];
  for (const schema of named) schemaOf(schema, schemas);
  const byPath = Map.groupBy(operations, ({ path }) => path);
  const paths = Object.fromEntries(
    [...byPath].map(([path, ofPath]) => [
      path,
      Object.fromEntries(
        ofPath.map((operation) => [operation.method, operationOf(operation, schemas, responses)]),
      ),
    ]),
  );
  const webhooks = Object.fromEntries(eventTypes.map((type) => [type, webhookOf(type, schemas)]));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Quittance',
      version,
      license: { name: license, identifier: license },
      description:
        'Crypto payments. Each request has the header `Authorization: Bearer TOKEN`. A request with the header `Quittance-Account: ACCOUNT` is carried out for that account alone. Amounts in requests are numbers or numeric texts, and are never rounded; amounts in answers are decimal texts. Times are UTC.\n\nThe [guides](/docs/guides) have one task each. JavaScript and TypeScript have a client, `@quittance/client`.',
    },
    servers: [{ url: '/', description: 'This installation' }],
    security: [{ token: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, description]) => [
          name,
          { description, schema: { type: 'string' } },
        ]),
      ),
      responses: sorted(responses),
      schemas: open(sorted(schemas)),
    },
  };
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

export const documentText = (): string => `${JSON.stringify(openApiDocument(), null, 1)}\n`;
