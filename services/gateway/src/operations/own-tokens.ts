import type { Queryable, Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import type { Place } from '@quittance/shared/pages';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { tokenState } from '../domain/token.ts';
import { type Excess, excessOf, limitsWithin, type TokenLimits } from '../domain/token-limits.ts';
import type { Ports } from '../ports.ts';
import { countTokens, tokenOfKey, tokensPage } from '../store/own-tokens.ts';
import {
  type Caller,
  type CreatedToken,
  type ListedToken,
  lockAccount,
  markRevoked,
  type Token,
  tokenById,
} from '../store/tokens.ts';
import { type Asker, authorOf } from './audit-log.ts';
import { type RotatedToken, storeNewToken, successorOf } from './new-token.ts';

/** What a merchant does with the tokens of his account, by one of them. */
type OwnPorts = Pick<Ports, 'db' | 'clock'>;

/** Per account: those that are valid, and those that were created within a day. Each has a rate limit of its own. */
export const TOKENS_MAX = 100;

/** Why no token is created. */
export type IssueRefusal =
  /** The token that asks was revoked, or has expired, since its request came. */
  | { kind: 'ended' }
  | { kind: 'beyond'; excess: Excess }
  | { kind: 'too_many' }
  | { kind: 'key_used'; id: string };

type AccessRefusal = { kind: 'not_found' } | { kind: 'forbidden' };

/** A page of the tokens of the account, newest first. */
export async function listOwnTokens(
  { db, clock }: OwnPorts,
  account: AccountId,
  place: Place,
): Promise<{ items: ListedToken[]; total: number }> {
  const { items, total } = await tokensPage(db, account, place);
  const now = clock.now();
  return { items: items.map((token) => ({ ...token, state: tokenState(token, now) })), total };
}

/** A token of the account, also one that is no longer valid. */
export async function readOwnToken(
  { db, clock }: OwnPorts,
  { caller, id }: { caller: Caller; id: string },
): Promise<Result<ListedToken, AccessRefusal>> {
  const token = await ownToken(db, caller, id);
  return token.ok ? ok({ ...token.value, state: tokenState(token.value, clock.now()) }) : token;
}

async function ownToken(
  db: Queryable,
  { account }: Caller,
  id: string,
): Promise<Result<Token, AccessRefusal>> {
  const token = await tokenById(db, id);
  if (token === undefined) return refuse({ kind: 'not_found' });
  return token.accountId === account ? ok(token) : refuse({ kind: 'forbidden' });
}

/** What a request for a new token has beside the token that asks. */
type Asked = Asker & { idempotencyKey: string | null };

/**
 * Whether one more token may be created. Requests of one account come here one after the other. Its token is read again: while
 * a body comes slowly, its owner may revoke it.
 */
async function mayCreate(
  trx: Trx,
  { caller, idempotencyKey }: Asked,
  now: Date,
): Promise<Result<Token, IssueRefusal>> {
  await lockAccount(trx, caller.account);
  const own = await tokenById(trx, caller.tokenId);
  if (own === undefined || tokenState(own, now) !== 'active') return refuse({ kind: 'ended' });
  const earlier = idempotencyKey === null ? undefined : await tokenOfKey(trx, own.accountId, idempotencyKey);
  if (earlier !== undefined) return refuse({ kind: 'key_used', id: earlier });
  return (await countTokens(trx, own.accountId)) < TOKENS_MAX ? ok(own) : refuse({ kind: 'too_many' });
}

/** Creates a token that has nothing beyond the one that asks. What is not named is as of that one. */
export function createOwnToken(
  { db, clock }: OwnPorts,
  { name, wanted, ...asked }: Asked & { name: string; wanted: TokenLimits },
): Promise<Result<CreatedToken, IssueRefusal>> {
  const now = clock.now();
  return db.transaction(async (trx) => {
    const own = await mayCreate(trx, asked, now);
    if (!own.ok) return own;
    const { accountId, accountName } = own.value;
    const limits = limitsWithin(own.value, wanted);
    if (!limits.ok) return refuse({ kind: 'beyond', excess: limits.refusal });
    const order = { ...limits.value, accountId, accountName, name, idempotencyKey: asked.idempotencyKey };
    return ok(await storeNewToken(trx, order, now, authorOf(asked)));
  });
}

type OwnRotation = Asked & { id: string; overlapHours: number; expiresAt: Date | null };

/** Replaces a token that has nothing beyond the one that asks: whoever rotates a token gets to see the new one. */
export function rotateOwnToken(
  { db, clock }: OwnPorts,
  { id, overlapHours, expiresAt, ...asked }: OwnRotation,
): Promise<
  Result<
    RotatedToken,
    IssueRefusal | AccessRefusal | { kind: 'not_active' } | { kind: 'replaced'; by: string }
  >
> {
  const now = clock.now();
  return db.transaction(async (trx) => {
    const own = await mayCreate(trx, asked, now);
    if (!own.ok) return own;
    const former = await tokenById(trx, id);
    if (former === undefined) return refuse({ kind: 'not_found' });
    if (former.accountId !== own.value.accountId) return refuse({ kind: 'forbidden' });
    if (former.replacedBy !== null) return refuse({ kind: 'replaced', by: former.replacedBy });
    const excess = excessOf(own.value, { ...former, expiresAt: expiresAt ?? former.expiresAt });
    if (excess !== undefined) return refuse({ kind: 'beyond', excess });
    const { idempotencyKey } = asked;
    const order = {
      overlapHours,
      expiresAt: expiresAt ?? undefined,
      idempotencyKey,
      now,
      ...authorOf(asked),
    };
    const rotated = await successorOf(trx, id, order);
    return rotated.ok ? rotated : refuse({ kind: 'not_active' });
  });
}

/** Ends a token of the account for good. To revoke takes nothing beyond `tokens:write`: it is what a leak needs. */
export async function revokeOwnToken(
  { db, clock }: OwnPorts,
  { id, ...asker }: Asker & { id: string },
): Promise<Result<Token, AccessRefusal>> {
  const token = await ownToken(db, asker.caller, id);
  if (token.ok) await markRevoked(db, id, clock.now(), authorOf(asker));
  return token;
}
