import type { TokenId } from '@quittance/shared/ids';
import type { CreatedToken, ListedToken } from './store/tokens.ts';

/** To the minute: it is written at most once a minute. */
const toTheMinute = (at: Date): string => `${at.toISOString().slice(0, 16)}:00.000Z`;

/** A token of the API. It never contains the token itself. */
export const tokenView = (token: ListedToken, { tokenId }: { tokenId: TokenId | undefined }) => ({
  id: token.id,
  name: token.name,
  hint: token.hint,
  state: token.state,
  current: token.id === tokenId,
  scopes: token.scopes,
  allowed_ips: token.allowedIps,
  created_at: token.createdAt.toISOString(),
  expires_at: token.expiresAt?.toISOString() ?? null,
  revoked_at: token.revokedAt?.toISOString() ?? null,
  replaced_by: token.replacedBy,
  last_used_at: token.lastUsedAt === null ? null : toTheMinute(token.lastUsedAt),
  last_used_ip: token.lastUsedIp,
});

/** A new token with itself, which is shown only once. */
export const newTokenView = (token: CreatedToken, caller: { tokenId: TokenId | undefined }) => ({
  ...tokenView({ ...token, state: 'active' }, caller),
  token: token.token,
});

/** The token that took the place of another, and when that one expires. */
export const rotatedTokenView = (
  token: CreatedToken,
  formerUntil: Date,
  caller: { tokenId: TokenId | undefined },
) => ({
  ...newTokenView(token, caller),
  former_token_expires_at: formerUntil.toISOString(),
});
