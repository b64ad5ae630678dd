import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  QuittanceError,
  RateLimitError,
  ServerError,
  UnavailableError,
} from '@quittance/client';

const NOT_CONNECTED = 'not_connected';

/** Whether nobody knows if the request was carried out. A 503 without its code is one of a proxy. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  (error instanceof ConnectionError && error.code !== NOT_CONNECTED) ||
  error instanceof ServerError ||
  (error instanceof UnavailableError && error.code !== 'unavailable') ||
  (error instanceof ConflictError && error.code === 'request_in_progress');

/**
 * Whether the request was refused for good. Until then the same request goes with the same Idempotency-Key: an answer that says
 * that nothing was done may follow an attempt whose answer was lost.
 */
export const isRefused = (error: unknown): boolean =>
  error instanceof QuittanceError &&
  !isOutcomeUnknown(error) &&
  !(error instanceof ConnectionError) &&
  !(error instanceof UnavailableError) &&
  !(error instanceof RateLimitError) &&
  !(error instanceof AuthenticationError);

/** A request that may have been carried out, with the key that it was sent with. */
export type Sent<Request> = { request: Request; key: string };

/**
 * What is sent now. While it is not known what became of the last request, that very request again, whatever a form has by now;
 * otherwise what is given, with the key of the last one when it is the same.
 */
export const toSend = <Request>(
  last: Sent<Request> | undefined,
  isUnknown: boolean,
  request: Request,
  newKey: () => string,
): Sent<Request> =>
  last !== undefined && (isUnknown || JSON.stringify(last.request) === JSON.stringify(request))
    ? last
    : { request, key: newKey() };
