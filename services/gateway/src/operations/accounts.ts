import { brokenConstraint } from '@quittance/shared/db-errors';
import { newAccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { readName, tokenState } from '../domain/token.ts';
import { type TokenLimits, unlimited } from '../domain/token-limits.ts';
import type { Ports } from '../ports.ts';
import type { Author } from '../store/audit-log.ts';
import {
  type Account,
  accountBy,
  allAccounts,
  type CreatedToken,
  insertAccount,
  type ListedToken,
  lockAccount,
  markRevoked,
  type Token,
  tokenById,
  tokensOf,
  updateLimit,
} from '../store/tokens.ts';
import { type RotatedToken, storeNewToken, successorOf } from './new-token.ts';

/** What an operator does with accounts and their API tokens. */
type OperatorPorts = Pick<Ports, 'db' | 'clock'>;

/** Creates an account. Its name is unique, so that commands can name the account by it. */
export async function createAccount(
  { db, clock }: OperatorPorts,
  order: Author & { name: string },
): Promise<Result<Account, 'name_invalid' | 'name_taken'>> {
  const name = readName(order.name);
  // A name that looks like an id could be taken for another account's.
  if (name === undefined || name.startsWith('acc_')) return refuse('name_invalid');
  const now = clock.now();
  const account = { id: newAccountId(now), name, createdAt: now, requestsPerMinute: null };
  try {
    await insertAccount(db, account, order);
  } catch (error) {
    if (brokenConstraint(error) === 'accounts_name_unique') return refuse('name_taken');
    throw error;
  }
  return ok(account);
}

/** All accounts, oldest first. */
export const listAccounts = ({ db }: Pick<Ports, 'db'>): Promise<Account[]> => allAccounts(db);

/**
 * Limits how many requests each token of an account may send in a minute. Gateways learn of it with the next request that
 * they let through, and at the latest within a minute.
 */
export async function limitAccount(
  { db }: Pick<Ports, 'db'>,
  order: Author & { account: string; requestsPerMinute: number | null },
): Promise<Result<Account, 'no_such_account'>> {
  const { requestsPerMinute } = order;
  const account = await accountBy(db, order.account);
  if (account === undefined) return refuse('no_such_account');
  await updateLimit(db, account.id, requestsPerMinute, order);
  return ok({ ...account, requestsPerMinute });
}

export type TokenOrder = Partial<TokenLimits> &
  Author & {
    /** Its id or its name. */
    account: string;
    name: string;
  };

/** Creates an API token for an account. What its limits do not name is without limit. */
export async function createToken(
  { db, clock }: OperatorPorts,
  order: TokenOrder,
): Promise<Result<CreatedToken, 'name_invalid' | 'no_such_account' | 'expires_in_the_past'>> {
  const { account: of, actor, source, ...given } = order;
  const name = readName(given.name);
  if (name === undefined) return refuse('name_invalid');
  const limits = { ...unlimited, ...given, name };
  const now = clock.now();
  if (limits.expiresAt !== null && limits.expiresAt <= now) return refuse('expires_in_the_past');
  const account = await accountBy(db, of);
  if (account === undefined) return refuse('no_such_account');
  return ok(
    await storeNewToken(db, { ...limits, accountId: account.id, accountName: account.name }, now, {
      actor,
      source,
    }),
  );
}

export type RotationOrder = Author & {
  id: string;
  /** How long the former token stays valid. */
  overlapHours: number;
  /** Of the new token; undefined: as of the former one. */
  expiresAt?: Date;
};

/** Replaces a token by a new one with the same name and limits. The former one expires after the overlap. */
export function rotateToken(
  { db, clock }: OperatorPorts,
  { id, ...order }: RotationOrder,
): Promise<Result<RotatedToken, 'no_such_token' | 'not_active' | 'replaced' | 'expires_in_the_past'>> {
  const now = clock.now();
  return db.transaction(async (trx) => {
    const former = await tokenById(trx, id);
    if (former === undefined) return refuse('no_such_token');
    await lockAccount(trx, former.accountId);
    if (order.expiresAt !== undefined && order.expiresAt <= now) return refuse('expires_in_the_past');
    return await successorOf(trx, id, { ...order, now });
  });
}

/** The tokens of one account, called by id or name, or of all. Those that are not valid any more are listed too. */
export async function listTokens(
  { db, clock }: OperatorPorts,
  account: string | undefined,
): Promise<Result<ListedToken[], 'no_such_account'>> {
  const of = account === undefined ? null : await accountBy(db, account);
  if (of === undefined) return refuse('no_such_account');
  const tokens = await tokensOf(db, of?.id ?? null);
  const now = clock.now();
  return ok(tokens.map((token) => ({ ...token, state: tokenState(token, now) })));
}

/** Ends a token for good; from the next request on it is refused. One that is revoked already stays as it is. */
export async function revokeToken(
  { db, clock }: OperatorPorts,
  { id, ...author }: Author & { id: string },
): Promise<Result<Token, 'no_such_token'>> {
  await markRevoked(db, id, clock.now(), author);
  const token = await tokenById(db, id);
  return token === undefined ? refuse('no_such_token') : ok(token);
}
