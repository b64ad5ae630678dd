import { readFileSync } from 'node:fs';
import type { Scope } from '../../../services/gateway/src/domain/scopes.ts';

export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: Schema | boolean;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
  example?: string | number;
};

type Media = { schema: Schema; example?: Record<string, unknown> };

export type Operation = {
  method: string;
  path: string;
  operationId: string;
  tags: readonly string[];
  parameters?: readonly Parameter[];
  requestBody?: { content: { 'application/json': Media } };
  responses: Record<string, unknown>;
  /** The scope that a token needs; none where every token will do, or where none is needed. */
  security?: readonly { token?: readonly Scope[]; session?: readonly never[] }[];
};

const document = JSON.parse(
  readFileSync(new URL('../../../services/gateway/openapi.json', import.meta.url), 'utf8'),
) as {
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
  components: { schemas: Record<string, Schema> };
};

/** Every operation of the reference. */
export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
  })),
);

export const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
