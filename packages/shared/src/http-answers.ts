import type { ServerResponse } from 'node:http';
import { ERRORS_PATH, type ErrorCode, errorCodes, isErrorCode } from './error-codes.ts';
import { type FieldErrors, hintOf, messagesOf } from './validation.ts';

const RETRY_AFTER_SECONDS = 2;

/** An answer as it goes over the wire. */
export type Answer = {
  status: number;
  body: object;
  headers?: Readonly<Record<string, string>>;
  /** Of an error whose body the contract shows in full; others have it in their body. */
  code?: ErrorCode;
};

type Headers = Readonly<Record<string, string>>;

/** An error: `hint` says what to do, in place of what the code's documentation says. */
const said = (
  code: ErrorCode,
  message: string,
  { headers, hint }: { headers?: Headers; hint?: string } = {},
): Answer => ({
  status: errorCodes[code].status,
  body: { message, code, hint: hint ?? errorCodes[code].remedy },
  ...(headers && { headers }),
});

/** Every answer that is not the wanted one, once, in the words of the contract. */
export const answers = {
  badRequest: said('bad_request', 'Bad Request'),
  /** The contract shows the whole body. */
  unauthenticated: { status: 401, body: { message: 'Unauthenticated.' }, code: 'unauthenticated' },
  /** The contract shows the whole body. */
  unauthorized: {
    status: 403,
    body: { message: 'This action is unauthorized.' },
    headers: { 'X-Error-Code': 'forbidden' },
    code: 'forbidden',
  },
  /** RFC 6750: the header names the scope for programs. */
  missingScope: (scope: string) =>
    said('missing_scope', `The API token has not the scope ${scope}.`, {
      headers: {
        'X-Error-Code': 'missing_scope',
        'WWW-Authenticate': `Bearer realm="quittance", error="insufficient_scope", scope="${scope}"`,
      },
    }),
  addressNotAllowed: (address: string) =>
    said('address_not_allowed', `The API token may not be used from ${address}.`, {
      headers: { 'X-Error-Code': 'address_not_allowed' },
    }),
  beyondOwnToken: (message: string) =>
    said('beyond_own_token', message, { headers: { 'X-Error-Code': 'beyond_own_token' } }),
  /** Of people who sign in. An unknown address and a wrong password have one answer. */
  signInFailed: said('sign_in_failed', 'The e-mail address or the password is wrong.'),
  /** The same of a passkey. */
  passkeyRefused: said('sign_in_failed', 'The passkey is not accepted.', {
    hint: 'Ask for new options and sign again, each within five minutes; or sign in with the password.',
  }),
  /** The password is right. `given`: there was a code, and it does not count. */
  secondFactorNeeded: (given: boolean) =>
    said(
      'second_factor_needed',
      given ? 'The code is wrong, or was used before.' : 'The second factor is missing.',
    ),
  stepUpNeeded: said('step_up_needed', 'The operation needs the password, or a passkey, again.', {
    headers: { 'X-Error-Code': 'step_up_needed' },
  }),
  missingRole: (role: string) =>
    said('missing_role', `The role ${role} does not allow this.`, {
      headers: { 'X-Error-Code': 'missing_role' },
    }),
  operatorsOnly: said('missing_role', 'Only operators of this installation may do this.', {
    headers: { 'X-Error-Code': 'missing_role' },
    hint: 'An operator is made by `quittance people operator EMAIL --grant`.',
  }),
  /** @param own the origin of this installation: who has opened a page by another name is told the right one */
  foreignOrigin: (own: string) =>
    said(
      'foreign_origin',
      `The request does not come from a page of this installation, which is at ${own}.`,
      {
        headers: { 'X-Error-Code': 'foreign_origin' },
      },
    ),
  otherAccount: said(
    'other_account',
    'The request is for another account than that of the session or token.',
  ),
  timeout: said('request_timeout', 'Request Timeout', { headers: { Connection: 'close' } }),
  tooLarge: said('body_too_large', 'The body must not be greater than 64 kilobytes.'),
  compressed: said('body_compressed', 'The body must not be compressed.'),
  expectation: said('expectation_failed', 'Only "100-continue" can be expected.'),
  insufficientBalance: (hint: string) => said('insufficient_balance', 'Insufficient balance', { hint }),
  notCancelable: (message: string) => said('not_cancelable', message),
  nothingToRefund: (message: string, hint: string) => said('nothing_to_refund', message, { hint }),
  refundTooLarge: (hint: string) =>
    said('refund_too_large', 'The refund is greater than what is left to refund.', { hint }),
  stillRunning: said('request_in_progress', 'The first request with this Idempotency-Key is still running.', {
    headers: { 'Retry-After': '1' },
  }),
  /** Of unresolved money, of which something else has become. */
  alreadyResolved: (how: 'accepted' | 'returned' | 'reversed') =>
    said('already_resolved', `These funds were already ${how}.`),
  /** Not as things stand: the message says what to do. */
  conflict: (message: string) => said('conflict', message),
  /** The headers say when the next request is let through. */
  tooMany: said('rate_limited', 'Too Many Attempts.'),
  /** A limit of its own: the message names it. */
  overLimit: (code: 'replay_limit' | 'too_many_streams', message: string, retryAfter: string) =>
    said(code, message, { headers: { 'Retry-After': retryAfter } }),
  unavailable: said('unavailable', 'Service Unavailable', {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  }),
  /** The same, with what to do about it. */
  unavailableWith: (hint: string) =>
    said('unavailable', 'Service Unavailable', {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      hint,
    }),
  /** Nothing was done, for a reason that clients may know. */
  unavailableBecause: (message: string, retryAfter: string) =>
    said('unavailable', message, { headers: { 'Retry-After': retryAfter } }),
  serverError: said('internal_error', 'Server Error'),
  noModel: (model: string) => said('not_found', `No query results for model [${model}].`),
  noRoute: (path: string) => said('route_not_found', `The route ${path} could not be found.`),
  wrongVerb: (verb: string, allowed: readonly string[]) =>
    said(
      'method_not_allowed',
      `The ${verb} method is not supported for this route. Supported methods: ${allowed.join(', ')}.`,
      { headers: { Allow: allowed.join(', ') } },
    ),
  invalid(errors: FieldErrors): Answer {
    const { body, ...answer } = said('invalid_request', 'The given data was invalid.', hintOf(errors));
    const { message, ...others } = body as { message: string };
    return { ...answer, body: { message, errors: messagesOf(errors), ...others } };
  },
} as const satisfies Record<string, Answer | ((...given: never[]) => Answer)>;

/** Why a resource is not shown to a merchant: there is none, or it is another's. */
export type AccessRefusal = 'not_found' | 'forbidden';

/** What is answered then; `model` is the resource's name in the contract. */
export const accessAnswers = (model: string) =>
  ({ not_found: answers.noModel(model), forbidden: answers.unauthorized }) as const satisfies Record<
    AccessRefusal,
    Answer
  >;

const PROBLEM_JSON = 'application/problem+json';

export function send(res: ServerResponse, answer: Answer): void {
  const { status, headers } = answer;
  const error = errorOf(res, answer);
  const asProblem = error !== undefined && acceptsProblem(res.req.headers.accept);
  const text = JSON.stringify(asProblem ? problemOf(error, answer) : (error?.body ?? answer.body));
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
  if (error?.docUrl !== undefined) res.setHeader('Link', `<${error.docUrl}>; rel="help"`);
  res.setHeader('Content-Type', asProblem ? PROBLEM_JSON : 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.statusCode = status;
  res.end(res.req.method === 'HEAD' ? undefined : text);
}

type SentError = { code: ErrorCode; body: object; requestId: string | undefined; docUrl: string | undefined };

/**
 * An error with what names this one answer. It is added when the answer goes out: an answer that is stored and sent again
 * names the request that gets it.
 */
function errorOf(res: ServerResponse, { body, code: given }: Answer): SentError | undefined {
  const code = given ?? ('code' in body ? body.code : undefined);
  if (!isErrorCode(code)) return undefined;
  const id = res.getHeader('X-Request-Id');
  const requestId = typeof id === 'string' ? id : undefined;
  const { publicUrl } = (res as { locals?: { publicUrl?: string } }).locals ?? {};
  const docUrl = publicUrl === undefined ? undefined : `${publicUrl}${ERRORS_PATH}#${code}`;
  const named = { ...(requestId && { request_id: requestId }), ...(docUrl && { doc_url: docUrl }) };
  return { code, requestId, docUrl, body: given === undefined ? { ...body, ...named } : body };
}

/** RFC 9457: its members, and ours beside them. */
function problemOf({ code, body, requestId, docUrl }: SentError, { status }: Answer): object {
  const { message, hint = errorCodes[code].remedy } = body as { message: string; hint?: string };
  return {
    type: docUrl ?? 'about:blank',
    title: message,
    status,
    detail: hint,
    ...body,
    code,
    hint,
    request_id: requestId,
    doc_url: docUrl,
  };
}

export const acceptsProblem = (accept: string | undefined): boolean => accepts(accept, PROBLEM_JSON);

/** Whether a client names the type itself: a wildcard is no wish for another form of answer. */
export function accepts(accept: string | undefined, wanted: string): boolean {
  return (accept ?? '').split(',').some((range) => {
    const [type = '', ...parameters] = range
      .toLowerCase()
      .split(';')
      .map((part) => part.trim());
    return type === wanted && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
  });
}

/**
 * Answers hold what is one merchant's own: no cache on the way keeps one, and no browser takes it for something else than it
 * says it is, runs what is in it, or shows it in a page of others. What has a policy of its own, as pages have, sets it later.
 */
export const privateAnswer = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

export function makePrivate(res: ServerResponse): void {
  for (const [name, value] of Object.entries(privateAnswer)) res.setHeader(name, value);
}
