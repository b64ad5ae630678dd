import { hash, randomBytes } from 'node:crypto';
import type { Queryable, Trx } from '@quittance/shared/db';
import { type AccountId, newTokenId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { hintOf, makeToken, tokenState } from '../domain/token.ts';
import type { TokenLimits } from '../domain/token-limits.ts';
import type { Author } from '../store/audit-log.ts';
import { type CreatedToken, endToken, insertToken, type NewToken, tokenById } from '../store/tokens.ts';

const HOUR_MS = 3_600_000;

type TokenParts = TokenLimits & { accountId: AccountId; accountName: string; name: string } & Partial<
    Pick<NewToken, 'replaces' | 'idempotencyKey'>
  >;

/** Makes a token and stores all of it but itself. */
export async function storeNewToken(
  db: Queryable,
  { accountName, replaces = null, idempotencyKey = null, ...parts }: TokenParts,
  now: Date,
  author: Author,
): Promise<CreatedToken> {
  const token = makeToken(randomBytes);
  const row = { ...parts, id: newTokenId(now), hint: hintOf(token), createdAt: now };
  await insertToken(db, { ...row, hash: hash('sha256', token, 'buffer'), replaces, idempotencyKey }, author);
  return {
    ...row,
    accountName,
    token,
    lastUsedAt: null,
    lastUsedIp: null,
    revokedAt: null,
    replacedBy: null,
  };
}

/** A new token, and when the one that it replaces expires. */
export type RotatedToken = { token: CreatedToken; formerUntil: Date };

export type Rotation = Author & {
  overlapHours: number;
  /** Of the new token; undefined: as of the former one. */
  expiresAt?: Date | undefined;
  idempotencyKey?: string | null;
  now: Date;
};

/**
 * A new token with the name and the limits of another, which expires after the overlap. A token is replaced once: whoever lost
 * the new one rotates that.
 */
export async function successorOf(
  trx: Trx,
  id: string,
  { overlapHours, idempotencyKey = null, now, actor, source, ...given }: Rotation,
): Promise<Result<RotatedToken, 'no_such_token' | 'not_active' | 'replaced'>> {
  const former = await tokenById(trx, id);
  if (former === undefined) return refuse('no_such_token');
  if (tokenState(former, now) !== 'active') return refuse('not_active');
  if (former.replacedBy !== null) return refuse('replaced');
  const { accountId, accountName, name, scopes, allowedIps } = former;
  const expiresAt = given.expiresAt ?? former.expiresAt;
  const limits = { scopes, allowedIps, expiresAt };
  const order = { accountId, accountName, name, ...limits, replaces: former.id, idempotencyKey };
  const author = { actor, source };
  const token = await storeNewToken(trx, order, now, author);
  const overlapEnd = new Date(now.getTime() + overlapHours * HOUR_MS);
  const formerUntil =
    former.expiresAt !== null && former.expiresAt < overlapEnd ? former.expiresAt : overlapEnd;
  await endToken(trx, former.id, formerUntil, author);
  return ok({ token, formerUntil });
}
