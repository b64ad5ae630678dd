import { hash } from 'node:crypto';
import { Unavailable } from '@quittance/shared/http';
import type { TokenId } from '@quittance/shared/ids';
import { reason } from '@quittance/shared/logger';
import { clientKeyOf, isAllowed } from '../domain/client-address.ts';
import type { RateLimitResult } from '../domain/rate-limit.ts';
import { bearerToken, hasAuthorization, isToken } from '../domain/token.ts';
import type { Ports } from '../ports.ts';
import type { LimitedToken } from '../store/tokens.ts';
import type { Caller } from './caller.ts';

/** Why a request has no caller. Unknown, revoked and expired tokens look the same to a client that tries tokens. */
export type TokenProblem = 'missing' | 'malformed' | 'not_valid';

export type Authentication =
  | { kind: 'caller'; caller: Caller; rateLimit: RateLimitResult }
  | { kind: 'unauthenticated'; cause: TokenProblem }
  /** The token is valid, and may not be used from this address. */
  | { kind: 'wrong_address'; tokenId: TokenId }
  | { kind: 'too_many'; rateLimit: RateLimitResult };

/**
 * Whose request it is, by its Authorization header, and whether there were too many. No token, a malformed, an unknown, a
 * revoked or an expired one is nobody's. The database is asked each time, so that a revocation counts at once; but only
 * when the limit leaves room for it: of the token, where this gateway has met it, and of the client's unknown tokens where
 * it has not. A client that has tried too many unknown ones can still use those that this gateway knows.
 * @param client the address of the client; undefined when it has gone
 */
export async function authenticate(
  ports: Pick<Ports, 'callerOf' | 'clock' | 'tokenUses' | 'limits' | 'tokensSeen'>,
  { rawHeaders, client }: { rawHeaders: readonly string[]; client: string | undefined },
): Promise<Authentication> {
  const clientKey = clientKeyOf(client);
  const { callerOf, clock, tokenUses, limits, tokensSeen } = ports;
  const token = bearerToken(rawHeaders);
  if (token === undefined || !isToken(token)) {
    const cause = hasAuthorization(rawHeaders) ? 'malformed' : 'missing';
    return fail(ports, clientKey, cause);
  }

  const digest = hash('sha256', token, 'buffer');
  const key = digest.toString('latin1');
  const met = tokensSeen.get(key);
  // From elsewhere it is a stranger's: whoever has a leaked token uses up none of its requests.
  const seen = met !== undefined && isAllowed(client, met.allowedIps) ? met : undefined;
  const hit = ({ tokenId, requestsPerMinute }: LimitedToken) => limits.tokens(requestsPerMinute).hit(tokenId);
  const begun = seen === undefined ? await limits.unknownTokens.begin(clientKey) : undefined;
  const before = begun ?? (await hit(seen as LimitedToken));
  if (!before.allowed) return { kind: 'too_many', rateLimit: before };

  try {
    const caller = await callerOf(digest).catch((error: unknown) => {
      throw new Unavailable(`tokens cannot be read: ${reason(error)}`);
    });
    if (caller === undefined) {
      tokensSeen.delete(key);
      const [failed] = await Promise.all([
        fail(ports, clientKey, 'not_valid'),
        limits.unknownTokens.hit(clientKey),
      ]);
      return failed;
    }
    const { tokenId, requestsPerMinute, allowedIps } = caller;
    if (!isAllowed(client, allowedIps)) {
      const [failed] = await Promise.all([
        limits.failures.hit(clientKey),
        limits.unknownTokens.hit(clientKey),
      ]);
      return failed.allowed ? { kind: 'wrong_address', tokenId } : { kind: 'too_many', rateLimit: failed };
    }
    tokensSeen.set(key, { tokenId, requestsPerMinute, allowedIps });
    // Counted by the limit that the account has now, where it was changed since.
    const rateLimit = seen?.requestsPerMinute === requestsPerMinute ? before : await hit(caller);
    if (!rateLimit.allowed) return { kind: 'too_many', rateLimit };
    tokenUses.note(tokenId, clock.now(), client);
    return { kind: 'caller', caller, rateLimit };
  } finally {
    begun?.done();
  }
}

/** Counts a request that is nobody's. */
export async function fail(
  { limits }: Pick<Ports, 'limits'>,
  clientKey: string,
  cause: TokenProblem,
): Promise<Authentication> {
  const rateLimit = await limits.failures.hit(clientKey);
  return rateLimit.allowed ? { kind: 'unauthenticated', cause } : { kind: 'too_many', rateLimit };
}
