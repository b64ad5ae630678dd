export type TokenState = 'active' | 'expired' | 'revoked';

/** Whether a token is let in, and why not. Revoked counts more: it was somebody's will. */
export function tokenState(token: { revokedAt: Date | null; expiresAt: Date | null }, now: Date): TokenState {
  if (token.revokedAt !== null) return 'revoked';
  return token.expiresAt !== null && token.expiresAt <= now ? 'expired' : 'active';
}
