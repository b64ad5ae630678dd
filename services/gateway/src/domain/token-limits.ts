import { ok, type Result, refuse } from '@quittance/shared/result';
import { covers, networksOf, readNetwork } from './client-address.ts';
import { holds, type Scope } from './scopes.ts';

/** What a token may do, from where, and until when. Null: everything, from everywhere, until it is revoked. */
export type TokenLimits = {
  scopes: Scope[] | null;
  /** Networks as Postgres writes them: `203.0.113.7/32`, `2001:db8::/48`. */
  allowedIps: string[] | null;
  expiresAt: Date | null;
};

export const unlimited: TokenLimits = { scopes: null, allowedIps: null, expiresAt: null };

/** In which way a token would have more than the one that asks for it. */
export type Excess =
  | { kind: 'scope'; scope: Scope | 'all' }
  | { kind: 'address'; network: string }
  | { kind: 'expiry'; until: Date };

/**
 * The limits of a new token: what is not named is as of the token that asks for it. Refused when it would have more: who has a
 * token that may create others must not get more from it than it has.
 */
export function limitsWithin(own: TokenLimits, wanted: TokenLimits): Result<TokenLimits, Excess> {
  const limits = {
    scopes: wanted.scopes ?? own.scopes,
    allowedIps: wanted.allowedIps ?? own.allowedIps,
    expiresAt: wanted.expiresAt ?? own.expiresAt,
  };
  const excess = excessOf(own, limits);
  return excess === undefined ? ok(limits) : refuse(excess);
}

/** What one token has beyond another. */
export function excessOf(own: TokenLimits, other: TokenLimits): Excess | undefined {
  if (own.scopes !== null) {
    if (other.scopes === null) return { kind: 'scope', scope: 'all' };
    const scope = other.scopes.find((one) => !holds(own.scopes, one));
    if (scope !== undefined) return { kind: 'scope', scope };
  }
  if (own.allowedIps !== null) {
    if (other.allowedIps === null) return { kind: 'address', network: 'every address' };
    const outer = networksOf(own.allowedIps);
    const network = other.allowedIps.find((text) => {
      const inner = readNetwork(text);
      return inner === undefined || !outer.some((one) => covers(one, inner));
    });
    if (network !== undefined) return { kind: 'address', network };
  }
  if (own.expiresAt !== null && (other.expiresAt === null || other.expiresAt > own.expiresAt)) {
    return { kind: 'expiry', until: own.expiresAt };
  }
  return undefined;
}
