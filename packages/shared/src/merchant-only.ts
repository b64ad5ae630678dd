import type { RequestHandler } from 'express';
import type { Clock } from './clock.ts';
import type { Service } from './events.ts';
import type { GatewayPublicKeys } from './gateway-keys.ts';
import { bytesOf, context, readBytes, Unavailable } from './http.ts';
import { answers, send } from './http-answers.ts';
import { IDENTITY_HEADER, type Identity, isBodyOf, type Receiver, verifyIdentity } from './identity.ts';

/**
 * Lets a merchant's request through: one of which the gateway has asserted to this service whose it is. The body is read here,
 * because the assertion is of its bytes too.
 */
export const merchantOnly = (receiver: Receiver, keys: GatewayPublicKeys, clock: Clock): RequestHandler =>
  assertedOnly(receiver, keys, clock, (identity) => identity.operator === undefined);

/** Lets the request of an operator through, of which the gateway has asserted to this service that it is one. */
export const operatorOnly = (receiver: Service, keys: GatewayPublicKeys, clock: Clock): RequestHandler =>
  assertedOnly(receiver, keys, clock, (identity) => identity.operator === true);

/** As an operator reads it in the log. */
const notNow = {
  stale:
    'the gateway signed this request too long ago: it was held up, or the gateway’s clock is behind this machine’s (set both by NTP)',
  ahead:
    'the gateway signed this request in the future: its clock is ahead of this machine’s, set both by NTP',
};

function assertedOnly(
  receiver: Receiver,
  keys: GatewayPublicKeys,
  clock: Clock,
  isLetIn: (identity: Identity) => boolean,
): RequestHandler {
  return (req, res, next) => {
    const request = { receiver, method: req.method, path: req.originalUrl };
    const assertion = verifyIdentity(keys, req.headers[IDENTITY_HEADER], request, clock.now());
    if (assertion === undefined) return send(res, answers.unauthenticated);
    // Held up on its way, or the clocks disagree. Its client is known, and nothing was done.
    if (typeof assertion === 'string') return next(new Unavailable(notNow[assertion]));
    if (!isLetIn(assertion.identity)) return send(res, answers.unauthenticated);
    readBytes(req, res, (error?: unknown) => {
      if (error !== undefined) return next(error);
      const rawBody = bytesOf(req);
      if (!isBodyOf(assertion, rawBody)) return send(res, answers.unauthenticated);
      Object.assign(context(res), { identity: assertion.identity, assertionId: assertion.id, rawBody });
      next();
    });
  };
}
