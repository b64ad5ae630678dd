/**
 * Every error of the API: its status, what it means and what to do. Clients tell errors apart by these codes, so a code
 * that has shipped keeps its name and its meaning.
 */
export const errorCodes = {
  bad_request: {
    status: 400,
    meaning: 'The request is not valid HTTP, or its body was cut off.',
    remedy: 'Send the request again with an ordinary HTTP client.',
  },
  insufficient_balance: {
    status: 400,
    meaning: 'The balance does not cover the amount and the network fee of the payout. Nothing was paid.',
    remedy: 'Read GET /api/balances and lower the amount, or wait for more deposits.',
  },
  not_cancelable: {
    status: 400,
    meaning: 'It is too late to cancel the resource. Nothing was changed.',
    remedy: 'Read its state: what happened to it cannot be undone.',
  },
  nothing_to_refund: {
    status: 400,
    meaning: 'Of what was paid for the invoice nothing is left to refund. Nothing was done.',
    remedy: 'Read the invoice: it says what was paid and what was refunded.',
  },
  refund_too_large: {
    status: 400,
    meaning: 'The refund is more than what is left of the payment. Nothing was done.',
    remedy: 'Lower the amount, or refund all that is left with the amount all.',
  },
  unauthenticated: {
    status: 401,
    meaning:
      'The API token is missing, not valid, revoked or expired. The header WWW-Authenticate says whether the token is missing, malformed or not valid: unknown, revoked and expired tokens have one text on purpose.',
    remedy:
      'Send the header Authorization: Bearer with a valid API token. If it was revoked or has expired, use another one, or have one created.',
  },
  forbidden: {
    status: 403,
    meaning: 'The resource belongs to another account.',
    remedy: 'Use the API token of the account that created the resource.',
  },
  missing_scope: {
    status: 403,
    meaning: 'The API token is valid and has not the scope that the operation needs. Nothing was done.',
    remedy: 'Use a token with the scope that the message names, or have one created.',
  },
  address_not_allowed: {
    status: 403,
    meaning: 'The API token may not be used from the address of this request. Nothing was done.',
    remedy:
      'Send the request from an address that the token allows. If it is not your request, revoke the token: somebody else has it.',
  },
  beyond_own_token: {
    status: 403,
    meaning:
      'The new API token would have more than the token that asks for it: a scope, other addresses or a later expiry. Nothing was created.',
    remedy: 'Ask for no more than your own token has, or have the operator create the token.',
  },
  sign_in_failed: {
    status: 401,
    meaning:
      'What was given to sign in is wrong. Whether the e-mail address is known, the answer does not say.',
    remedy:
      'Check the e-mail address and the password, or take another passkey. If the password is lost, ask the operator to reset it.',
  },
  second_factor_needed: {
    status: 401,
    meaning:
      'The password is right, and the person has a second factor: the code is missing, wrong or was used before.',
    remedy: 'Send the request again with code: six digits of the app, each code once, or a recovery code.',
  },
  step_up_needed: {
    status: 403,
    meaning:
      'The operation needs that the person has shown within ten minutes who it is, and the session has not. Nothing was done.',
    remedy:
      'Send POST /api/session/step-up with the password and the code, or sign with a passkey, and send the request again.',
  },
  missing_role: {
    status: 403,
    meaning: 'The person has signed in, and has not the role that the operation needs. Nothing was done.',
    remedy: 'Ask an owner or an admin of the account.',
  },
  foreign_origin: {
    status: 403,
    meaning:
      'The request has the cookie of a session, and does not come from a page of this installation: its header Origin is not that of PUBLIC_URL, or Sec-Fetch-Site names another site. Nothing was done.',
    remedy: 'Send requests with a session from pages of this installation. Programs use an API token.',
  },
  not_found: {
    status: 404,
    meaning: 'There is no resource with this id.',
    remedy: 'Check the id in the path: it must be complete and of this installation.',
  },
  route_not_found: {
    status: 404,
    meaning: 'The API has no such path.',
    remedy: 'Check the path for a typing error. The paths of the API begin with /api/.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, and does not take this method.',
    remedy: 'Use a method that the header Allow names.',
  },
  request_timeout: {
    status: 408,
    meaning: 'The request took too long to arrive. Nothing was done.',
    remedy: 'Send the request again, in one piece.',
  },
  other_account: {
    status: 409,
    meaning:
      'The header Quittance-Account names another account than that of the session or the API token. Nothing was done.',
    remedy:
      'Load the page again: somebody has signed in for another account in this browser. A program uses a token of the account that it names.',
  },
  request_in_progress: {
    status: 409,
    meaning: 'The first request with this Idempotency-Key is still running.',
    remedy: 'Repeat the request after Retry-After seconds to get the answer of the first.',
  },
  already_resolved: {
    status: 409,
    meaning: 'The unresolved deposit was accepted, returned or reversed before.',
    remedy: 'Read its state with GET /api/unresolved.',
  },
  conflict: {
    status: 409,
    meaning: 'The request is valid, and the present state of the resource does not allow it.',
    remedy: 'Do what the message says, and send the request again.',
  },
  body_too_large: {
    status: 413,
    meaning: 'The body of the request has more than 64 kB.',
    remedy: 'Send a smaller body.',
  },
  body_compressed: {
    status: 415,
    meaning: 'The body of the request is compressed.',
    remedy: 'Send the body without Content-Encoding.',
  },
  expectation_failed: {
    status: 417,
    meaning: 'The header Expect asks for something other than 100-continue.',
    remedy: 'Send the request without the header Expect.',
  },
  invalid_request: {
    status: 422,
    meaning: 'Fields or query parameters are missing, wrong or not known. Nothing was done.',
    remedy: 'Correct the fields that errors names, and send the request again.',
  },
  rate_limited: {
    status: 429,
    meaning: 'There were too many requests with this token, or from this address, in a minute.',
    remedy: 'Wait for the seconds that Retry-After names, and send the request again.',
  },
  replay_limit: {
    status: 429,
    meaning: 'The account has queued as many replayed deliveries as it may in a day.',
    remedy: 'Narrow the range, or wait for the seconds that Retry-After names.',
  },
  too_many_streams: {
    status: 429,
    meaning: 'The account has as many event streams open as it may.',
    remedy: 'Close a stream, and open the new one after Retry-After seconds.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The headers of the request are too large.',
    remedy: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    meaning: 'The request failed, and it is not known whether it was carried out.',
    remedy:
      'Repeat the request with the same Idempotency-Key. If it fails again, give the operator the request_id.',
  },
  unavailable: {
    status: 503,
    meaning: 'A part of the service is not available. Nothing was done.',
    remedy: 'Send the request again after Retry-After seconds.',
  },
} as const satisfies Record<string, { status: number; meaning: string; remedy: string }>;

export type ErrorCode = keyof typeof errorCodes;

export const isErrorCode = (text: unknown): text is ErrorCode =>
  typeof text === 'string' && Object.hasOwn(errorCodes, text);

/** Where the gateway serves the list of codes. */
export const ERRORS_PATH = '/docs/errors';
