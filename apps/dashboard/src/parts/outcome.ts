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
export type Sent = { request: string; key: string };

/** The key of a request: that of the last one when it is the same. */
export const keyFor = (last: Sent | undefined, request: string, newKey: () => string): string =>
  last?.request === request ? last.key : newKey();
