import type { Queryable, Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import type { Place } from '@quittance/shared/pages';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { tokenState } from '../domain/token.ts';
import { type Excess, excessOf, limitsWithin, type TokenLimits } from '../domain/token-limits.ts';
import type { Ports } from '../ports.ts';
import { countTokens, tokenOfKey, tokensPage } from '../store/own-tokens.ts';
import { sessionOf } from '../store/sessions.ts';
import {
  type CreatedToken,
  type ListedToken,
  lockAccount,
  markRevoked,
  type Token,
  tokenById,
} from '../store/tokens.ts';
import { type Asker, authorOf } from './audit-log.ts';
import { type Caller, callerOfSession } from './caller.ts';
import { type RotatedToken, storeNewToken, successorOf } from './new-token.ts';
import { sessionLife } from './sessions.ts';

/** What a merchant does with the tokens of his account, by one of them or as a person. */
type OwnPorts = Pick<Ports, 'db' | 'clock' | 'settings'>;

/** Per account: those that are valid, and those that were created within a day. Each has a rate limit of its own. */
export const TOKENS_MAX = 100;

/** Why no token is created. */
export type IssueRefusal =
  /** The token or the session that asks was ended, or has expired, since its request came. */
  | { kind: 'ended' }
  | { kind: 'beyond'; excess: Excess }
  | { kind: 'too_many' }
  | { kind: 'key_used'; id: string };

type AccessRefusal = { kind: 'not_found' } | { kind: 'forbidden' };

/** A page of the tokens of the account, newest first. */
export async function listOwnTokens(
  { db, clock }: Pick<OwnPorts, 'db' | 'clock'>,
  account: AccountId,
  place: Place,
): Promise<{ items: ListedToken[]; total: number }> {
  const { items, total } = await tokensPage(db, account, place);
  const now = clock.now();
  return { items: items.map((token) => ({ ...token, state: tokenState(token, now) })), total };
}

/** A token of the account, also one that is no longer valid. */
export async function readOwnToken(
  { db, clock }: Pick<OwnPorts, 'db' | 'clock'>,
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

/** Who asks, with what a token of theirs may have. */
type Creator = TokenLimits & { accountId: AccountId; accountName: string };

/** Read again: while a body comes slowly, a token may be revoked, a session ended, and a role changed. */
async function creatorNow(
  ports: OwnPorts,
  trx: Trx,
  caller: Caller,
  now: Date,
): Promise<Creator | undefined> {
  if (caller.tokenId !== undefined) {
    const own = await tokenById(trx, caller.tokenId);
    return own !== undefined && tokenState(own, now) === 'active' ? own : undefined;
  }
  const session = await sessionOf(trx, caller.hash, sessionLife(ports));
  if (session === undefined) return undefined;
  const { account: accountId, accountName } = session;
  const { scopes } = callerOfSession(session, caller.hash);
  return { accountId, accountName, scopes: scopes && [...scopes], allowedIps: null, expiresAt: null };
}

/** Whether one more token may be created. Requests of one account come here one after the other. */
async function mayCreate(
  ports: OwnPorts,
  trx: Trx,
  { caller, idempotencyKey }: Asked,
  now: Date,
): Promise<Result<Creator, IssueRefusal>> {
  await lockAccount(trx, caller.account);
  const own = await creatorNow(ports, trx, caller, now);
  if (own === undefined) return refuse({ kind: 'ended' });
  const earlier = idempotencyKey === null ? undefined : await tokenOfKey(trx, own.accountId, idempotencyKey);
  if (earlier !== undefined) return refuse({ kind: 'key_used', id: earlier });
  return (await countTokens(trx, own.accountId)) < TOKENS_MAX ? ok(own) : refuse({ kind: 'too_many' });
}

/** Creates a token that has nothing beyond who asks. What is not named is as of that one. */
export function createOwnToken(
  ports: OwnPorts,
  { name, wanted, ...asked }: Asked & { name: string; wanted: TokenLimits },
): Promise<Result<CreatedToken, IssueRefusal>> {
  const now = ports.clock.now();
  return ports.db.transaction(async (trx) => {
    const own = await mayCreate(ports, trx, asked, now);
    if (!own.ok) return own;
    const { accountId, accountName } = own.value;
    const limits = limitsWithin(own.value, wanted);
    if (!limits.ok) return refuse({ kind: 'beyond', excess: limits.refusal });
    const order = { ...limits.value, accountId, accountName, name, idempotencyKey: asked.idempotencyKey };
    return ok(await storeNewToken(trx, order, now, authorOf(asked)));
  });
}

type OwnRotation = Asked & { id: string; overlapHours: number; expiresAt: Date | null };

/** Replaces a token that has nothing beyond who asks: whoever rotates a token gets to see the new one. */
export function rotateOwnToken(
  ports: OwnPorts,
  { id, overlapHours, expiresAt, ...asked }: OwnRotation,
): Promise<
  Result<
    RotatedToken,
    IssueRefusal | AccessRefusal | { kind: 'not_active' } | { kind: 'replaced'; by: string }
  >
> {
  const now = ports.clock.now();
  return ports.db.transaction(async (trx) => {
    const own = await mayCreate(ports, trx, asked, now);
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
  { db, clock }: Pick<OwnPorts, 'db' | 'clock'>,
  { id, ...asker }: Asker & { id: string },
): Promise<Result<Token, AccessRefusal>> {
  const token = await ownToken(db, asker.caller, id);
  if (token.ok) await markRevoked(db, id, clock.now(), authorOf(asker));
  return token;
}
