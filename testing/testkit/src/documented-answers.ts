import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** Compares what the API answers with its reference: an undocumented field, status or media type is an error. */

type Content = Record<string, { schema?: object }>;
type Response = { $ref?: string; content?: Content };
type Operation = { responses: Record<string, Response>; requestBody?: { content: Content } };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { responses: Record<string, Response> };
};

/**
 * In the document, answers may have further fields, for clients of later versions; here they may not. Bodies of requests are
 * closed already.
 */
function closed(name: string, value: unknown): unknown {
  if (name === 'example' || name === 'examples' || typeof value !== 'object' || value === null) return value;
  const { type, properties, additionalProperties = false } = value as Record<string, unknown>;
  const isObject = [type].flat().includes('object') && properties !== undefined;
  return isObject ? { ...value, additionalProperties } : value;
}

const read = (): Document =>
  JSON.parse(
    readFileSync(new URL('../../../services/gateway/openapi.json', import.meta.url), 'utf8'),
    closed,
  );

let known: ReturnType<typeof open> | undefined;

function open() {
  const document = read();
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (formats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema(document, 'reference', false, false);
  const compiled = new Map<string, ValidateFunction>();
  /** @param at of the schema in the document, as parts of a JSON pointer */
  function validatorOf(...at: string[]): ValidateFunction {
    const pointer = at.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
    const ref = `reference#/${pointer.join('/')}`;
    const found = compiled.get(ref) ?? ajv.compile({ $ref: ref });
    compiled.set(ref, found);
    return found;
  }
  const paths = Object.keys(document.paths)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}/?$`) }))
    // `/api/payouts/quote` is no payout.
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  return { document, ajv, validatorOf, paths };
}

const reference = () => {
  known ??= open();
  return known;
};

export type AnswerToCheck = {
  method: string;
  /** With or without its query. */
  path: string;
  status: number;
  contentType: string;
  /** The JSON of the body. */
  body: unknown;
};

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 2_000) ?? 'nothing';

function compare(validate: ValidateFunction, body: unknown, what: string): void {
  if (validate(body)) return;
  const { ajv } = reference();
  throw new Error(`${what} is not as documented: ${ajv.errorsText(validate.errors)}: ${shown(body)}`);
}

/** Throws when an answer below /api, or public keys, are not as documented. */
export function checkAnswer({ method, path, status, contentType, body }: AnswerToCheck): void {
  const [pathname = ''] = path.split('?');
  if (!/^\/(?:api|\.well-known)\//.test(pathname) || method === 'HEAD') return;
  const { document, validatorOf, paths } = reference();
  const documented = paths.find(({ pattern }) => pattern.test(pathname))?.path;
  const verb = method.toLowerCase();
  const operation = documented && document.paths[documented]?.[verb];
  const what = `${method} ${path}: ${status}`;
  if (documented === undefined || !operation) {
    if (status < 400) throw new Error(`${what}: the operation is not documented`);
    const schema = status === 401 ? 'Unauthenticated' : 'Error';
    compare(validatorOf('components', 'schemas', schema), body, what);
    return;
  }
  const response = operation.responses[String(status)];
  if (response === undefined) throw new Error(`${what} is not a documented status: ${shown(body)}`);
  const name = response.$ref?.split('/').at(-1);
  const at =
    name === undefined
      ? ['paths', documented, verb, 'responses', String(status)]
      : ['components', 'responses', name];
  const { content = {} } = name === undefined ? response : (document.components.responses[name] ?? {});
  const [type = ''] = contentType.split(';');
  if (content[type] === undefined) throw new Error(`${what} has the media type ${contentType}`);
  if (/json$/.test(type)) compare(validatorOf(...at, 'content', type, 'schema'), body, what);
}

/** Throws when the JSON body of a request is not as documented. `path` as in the document. */
export function checkRequest({ method, path, body }: { method: string; path: string; body: unknown }): void {
  const at = ['paths', path, method, 'requestBody', 'content', 'application/json', 'schema'];
  compare(reference().validatorOf(...at), body, `the request ${method} ${path}`);
}

/** Throws when the body of a webhook is not as documented for its event. */
export function checkWebhook(text: string): void {
  const body = JSON.parse(text) as { event?: unknown };
  const { document, validatorOf } = reference();
  const event = String(body.event);
  if (document.webhooks[event] === undefined) throw new Error(`the webhook ${event} is not documented`);
  const at = ['webhooks', event, 'post', 'requestBody', 'content', 'application/json', 'schema'];
  compare(validatorOf(...at), body, `the webhook ${event}`);
}
