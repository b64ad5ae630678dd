/** What an error says of the request that it ended. */
export type ErrorDetails = {
  status?: number | undefined;
  code?: string | undefined;
  hint?: string | undefined;
  errors?: Readonly<Record<string, readonly string[]>> | undefined;
  requestId?: string | undefined;
  docUrl?: string | undefined;
  retryAfterSeconds?: number | undefined;
  idempotencyKey?: string | undefined;
  cause?: unknown;
};

/** Every error of this client. `message` is the API's message, followed by its hint. */
export class QuittanceError extends Error {
  /** The HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** The code on the page `/docs/errors`, for programs. */
  readonly code: string | undefined;
  /** What to do, for people. */
  readonly hint: string | undefined;
  /** What is wrong with each field or query parameter of a request that is not valid. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** The operator's logs have it. */
  readonly requestId: string | undefined;
  readonly docUrl: string | undefined;
  /** After how many seconds the API wants to be asked again. */
  readonly retryAfterSeconds: number | undefined;
  /** The key that was sent: the same request with this key never does anything twice. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    const { hint, cause } = details;
    super(hint === undefined ? message : `${message} ${hint}`, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.status = details.status;
    this.code = details.code;
    this.hint = hint;
    this.errors = details.errors ?? {};
    this.requestId = details.requestId;
    this.docUrl = details.docUrl;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.idempotencyKey = details.idempotencyKey;
  }
}

/** 400, 413, 415, 422 and the like: the request cannot be carried out as it is. Nothing was done. */
export class InvalidRequestError extends QuittanceError {}
/** 401: the API token is missing, unknown, revoked or expired. */
export class AuthenticationError extends QuittanceError {}
/**
 * 403: the resource belongs to another account, or the token has not the scope, or not this address. `code` says which.
 */
export class PermissionError extends QuittanceError {}
/** 404: there is no such resource. */
export class NotFoundError extends QuittanceError {}
/** 409: the present state of the resource does not allow it. */
export class ConflictError extends QuittanceError {}
/** 429: too many requests. `retryAfterSeconds` says when the next is let through. */
export class RateLimitError extends QuittanceError {}
/** 503: a part of the service does not answer. Nothing was done. */
export class UnavailableError extends QuittanceError {}
/** Another 5xx: it is not known whether the request was carried out. Repeat it with its `idempotencyKey`. */
export class ServerError extends QuittanceError {}
/** No answer: it is not known whether the request was carried out, unless `code` is `not_connected`. */
export class ConnectionError extends QuittanceError {}

/** A webhook that is not from Quittance, was changed, or is too old. Answer 400 and do nothing else. */
export class WebhookVerificationError extends QuittanceError {}

/** Events that are no longer kept: those after `after` and before `first_sequence` were missed. */
export class EventGapError extends QuittanceError {
  readonly after: number;
  readonly first_sequence: number;

  constructor(after: number, first_sequence: number) {
    super(`The events ${after + 1} to ${first_sequence - 1} are no longer kept.`, {
      code: 'gap',
      hint: `Read the state of your orders with invoices.list() and payouts.list(), then follow again with after: ${first_sequence - 1}.`,
    });
    this.after = after;
    this.first_sequence = first_sequence;
  }
}

/** A subclass by the status of an answer. */
export function errorClassOf(status: number): typeof QuittanceError {
  const byStatus: Readonly<Record<number, typeof QuittanceError>> = {
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
    503: UnavailableError,
  };
  const others = status >= 500 ? ServerError : status >= 400 ? InvalidRequestError : QuittanceError;
  return byStatus[status] ?? others;
}
