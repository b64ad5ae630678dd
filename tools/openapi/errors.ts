import { type ErrorCode, errorCodes } from '@quittance/shared/error-codes';
import { type Answer, answers } from '@quittance/shared/http-answers';
import { messages } from '@quittance/shared/validation';
import { type Components, type JsonSchema, refTo } from './json-schema.ts';

const text = (description: string) => ({ type: 'string', description });

const common = {
  message: text('What is wrong.'),
  code: {
    type: 'string',
    enum: Object.keys(errorCodes),
    description: 'The kind of error, for programs.',
  },
  hint: text('What to do, for people. It may change.'),
  request_id: text('The `X-Request-Id` of this answer: the logs of the operator have it.'),
  doc_url: text('Where the code is explained.'),
  errors: {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
    description: 'Of a 422: what is wrong, by field.',
  },
  line: { type: 'integer', minimum: 1, description: 'Of a batch: the line that the balance does not cover.' },
};

const bodyOf = (properties: JsonSchema, required: readonly string[], description: string): JsonSchema => ({
  type: 'object',
  properties,
  required,
  description,
});

const messageAlone = (answer: Answer): JsonSchema =>
  bodyOf(
    { message: { ...common.message, const: (answer.body as { message: string }).message } },
    ['message'],
    'An error that has a message alone.',
  );

export const errorSchemas: Components = {
  Error: bodyOf(common, ['message', 'code', 'hint'], 'An error.'),
  Problem: bodyOf(
    {
      type: text('Where the code is explained.'),
      title: text('What is wrong.'),
      status: { type: 'integer', description: 'The status of the answer.' },
      detail: text('What to do, for people.'),
      ...common,
    },
    ['type', 'title', 'status', 'detail', 'message', 'code', 'hint'],
    'An error as RFC 9457 has it, for clients that accept `application/problem+json`.',
  ),
  Unauthenticated: messageAlone(answers.unauthenticated),
  Forbidden: messageAlone(answers.unauthorized),
};

/** An answer of each code, as the API gives it. */
const given = {
  bad_request: answers.badRequest,
  insufficient_balance: answers.insufficientBalance(
    '0.2 ETH is available and 0.5005 ETH is needed: 0.5 and 0.0005 network fee.',
  ),
  not_cancelable: answers.notCancelable('The invoice is paid, so it cannot be cancelled.'),
  nothing_to_refund: answers.nothingToRefund(
    'Nothing is left to refund.',
    '0.01 ETH was paid, 0.01 ETH of it was refunded.',
  ),
  refund_too_large: answers.refundTooLarge(
    '0.01 ETH was paid, 0 ETH of it was refunded: at most 0.01 ETH (25 USD) is left. "all" refunds it.',
  ),
  unauthenticated: answers.unauthenticated,
  forbidden: answers.unauthorized,
  missing_scope: answers.missingScope('payouts:write'),
  address_not_allowed: answers.addressNotAllowed('198.51.100.7'),
  beyond_own_token: answers.beyondOwnToken('Your own token has not the scope payouts:write.'),
  sign_in_failed: answers.signInFailed,
  second_factor_needed: answers.secondFactorNeeded(false),
  step_up_needed: answers.stepUpNeeded,
  missing_role: answers.missingRole('viewer'),
  foreign_origin: answers.foreignOrigin('https://pay.example'),
  not_found: answers.noModel('Invoice'),
  route_not_found: answers.noRoute('api/invoice'),
  other_account: answers.otherAccount,
  method_not_allowed: answers.wrongVerb('DELETE', ['GET', 'HEAD', 'POST']),
  request_timeout: answers.timeout,
  request_in_progress: answers.stillRunning,
  already_resolved: answers.alreadyResolved('accepted'),
  conflict: answers.conflict('The webhook is disabled: enable it first.'),
  body_too_large: answers.tooLarge,
  body_compressed: answers.compressed,
  expectation_failed: answers.expectation,
  invalid_request: answers.invalid({ amount: [messages.atLeast('amount', '5')] }),
  rate_limited: answers.tooMany,
  replay_limit: answers.overLimit(
    'replay_limit',
    'The replays of an account may queue 100000 deliveries a day.',
    '3600',
  ),
  too_many_streams: answers.overLimit(
    'too_many_streams',
    'An account may have 10 streams at a time. Close one first.',
    '5',
  ),
  headers_too_large: {
    status: 431,
    body: {
      message: 'Request Header Fields Too Large',
      code: 'headers_too_large',
      hint: errorCodes.headers_too_large.remedy,
    },
  },
  internal_error: answers.serverError,
  unavailable: answers.unavailable,
} as const satisfies Record<ErrorCode, Answer>;

const schemaNames: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'Unauthenticated',
  forbidden: 'Forbidden',
};

const REQUEST_ID = 'req_01kawxp2m9h9bkzv3xqnm40y2r6d8tfs57cg';
const ORIGIN = 'https://pay.example';

function exampleOf(code: ErrorCode): object {
  const { body } = given[code];
  if (schemaNames[code] !== undefined) return { summary: code, value: body };
  const named = { request_id: REQUEST_ID, doc_url: `${ORIGIN}/docs/errors#${code}` };
  return { summary: code, value: { ...body, ...named } };
}

export const rateLimitHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'RateLimit',
  'RateLimit-Policy',
] as const;

const headersOf = (status: number, codes: readonly ErrorCode[]): object => {
  const ref = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });
  return {
    ...ref('X-Request-Id'),
    ...(status === 429 || status === 503 || status === 409 ? ref('Retry-After') : {}),
    ...(status === 429 ? Object.assign({}, ...rateLimitHeaders.map(ref)) : {}),
    ...(codes.includes('rate_limited') ? ref('X-RateLimit-Reset') : {}),
    ...(status === 403 ? ref('X-Error-Code') : {}),
    ...(status === 401 || codes.includes('missing_scope') ? ref('WWW-Authenticate') : {}),
  };
};

/** The answer of one status, with the codes that it may have. Its bodies follow `Error`, or are a message alone. */
function responseOf(status: number, codes: readonly ErrorCode[]): object {
  const code = { properties: { code: { enum: codes } } };
  const alone = codes.flatMap((one) => schemaNames[one] ?? []).map(refTo);
  const withCode = codes.length > alone.length ? [{ ...refTo('Error'), ...code }] : [];
  const bodies = [...alone, ...withCode];
  return {
    description: codes.map((one) => `\`${one}\`: ${errorCodes[one].meaning}`).join(' '),
    headers: headersOf(status, codes),
    content: {
      'application/json': {
        schema: bodies.length === 1 ? bodies[0] : { anyOf: bodies },
        examples: Object.fromEntries(codes.map((one) => [one, exampleOf(one)])),
      },
      'application/problem+json': { schema: { ...refTo('Problem'), ...code } },
    },
  };
}

/** The errors of an operation by status, as references to `responses`, to which they are added. */
export function errorResponses(
  codes: readonly ErrorCode[],
  responses: Record<string, object>,
): Record<string, object> {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorCodes[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => {
      const sorted = ofStatus.toSorted();
      const name = sorted.join('_or_');
      responses[name] ??= responseOf(status, sorted);
      return [String(status), { $ref: `#/components/responses/${name}` }];
    }),
  );
}
