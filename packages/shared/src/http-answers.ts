import type { ServerResponse } from 'node:http';
import type { FieldErrors } from './validation.ts';

const RETRY_AFTER_SECONDS = 2;

/** An answer as it goes over the wire. */
export type Answer = { status: number; body: object; headers?: Readonly<Record<string, string>> };

const said = (status: number, message: string, headers?: Record<string, string>): Answer =>
  headers ? { status, body: { message }, headers } : { status, body: { message } };

/** Every answer that is not the wanted one, once, in the words of the contract. */
export const answers = {
  badRequest: said(400, 'Bad Request'),
  unauthenticated: said(401, 'Unauthenticated.'),
  unauthorized: said(403, 'This action is unauthorized.'),
  timeout: said(408, 'Request Timeout', { Connection: 'close' }),
  tooLarge: said(413, 'The body must not be greater than 64 kilobytes.'),
  compressed: said(415, 'The body must not be compressed.'),
  expectation: said(417, 'Only "100-continue" can be expected.'),
  insufficientBalance: said(400, 'Insufficient balance'),
  stillRunning: said(409, 'The first request with this Idempotency-Key is still running.', {
    'Retry-After': '1',
  }),
  /** Of unresolved money, of which something else has become. */
  alreadyResolved: (how: 'accepted' | 'returned' | 'reversed') =>
    said(409, `These funds were already ${how}.`),
  /** Not as things stand: the message says what to do. */
  conflict: (message: string) => said(409, message),
  unavailable: said(503, 'Service Unavailable', { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
  serverError: said(500, 'Server Error'),
  noModel: (model: string) => said(404, `No query results for model [${model}].`),
  noRoute: (path: string) => said(404, `The route ${path} could not be found.`),
  wrongVerb: (verb: string, allowed: readonly string[]) =>
    said(
      405,
      `The ${verb} method is not supported for this route. Supported methods: ${allowed.join(', ')}.`,
      {
        Allow: allowed.join(', '),
      },
    ),
  invalid: (errors: FieldErrors): Answer => ({
    status: 422,
    body: { message: 'The given data was invalid.', errors },
  }),
} as const;

/** Why a resource is not shown to a merchant: there is none, or it is another's. */
export type AccessRefusal = 'not_found' | 'forbidden';

/** What is answered then; `model` is the resource's name in the contract. */
export const accessAnswers = (model: string) =>
  ({ not_found: answers.noModel(model), forbidden: answers.unauthorized }) as const satisfies Record<
    AccessRefusal,
    Answer
  >;

export function send(res: ServerResponse, { status, body, headers }: Answer): void {
  const text = JSON.stringify(body);
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.statusCode = status;
  res.end(res.req.method === 'HEAD' ? undefined : text);
}

/**
 * Answers hold what is one merchant's own: no cache on the way keeps one, and no browser takes it for something else than it
 * says it is. What has a policy of its own, as pages have, sets it later.
 */
export const privateAnswer = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

export function makePrivate(res: ServerResponse): void {
  for (const [name, value] of Object.entries(privateAnswer)) res.setHeader(name, value);
}
