import { hash, randomBytes } from 'node:crypto';
import { brokenConstraint } from '@quittance/shared/db-errors';
import { newAccountId, newTokenId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { hintOf, makeToken, readName, type TokenState, tokenState } from '../domain/token.ts';
import type { Ports } from '../ports.ts';
import {
  type Account,
  accountBy,
  allAccounts,
  insertAccount,
  insertToken,
  markRevoked,
  type Token,
  tokenById,
  tokensOf,
  updateLimit,
} from '../store/tokens.ts';

/** What an operator does with accounts and their API tokens. `actor` is who does it, for the audit log. */
type OperatorPorts = Pick<Ports, 'db' | 'clock'>;

/** Creates an account. Its name is unique, so that commands can name the account by it. */
export async function createAccount(
  { db, clock }: OperatorPorts,
  order: { name: string; actor: string },
): Promise<Result<Account, 'name_invalid' | 'name_taken'>> {
  const name = readName(order.name);
  // A name that looks like an id could be taken for another account's.
  if (name === undefined || name.startsWith('acc_')) return refuse('name_invalid');
  const now = clock.now();
  const account = { id: newAccountId(now), name, createdAt: now, requestsPerMinute: null };
  try {
    await insertAccount(db, account, order.actor);
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
  order: { account: string; requestsPerMinute: number | null; actor: string },
): Promise<Result<Account, 'no_such_account'>> {
  const { requestsPerMinute, actor } = order;
  const account = await accountBy(db, order.account);
  if (account === undefined) return refuse('no_such_account');
  await updateLimit(db, account.id, requestsPerMinute, actor);
  return ok({ ...account, requestsPerMinute });
}

export type TokenOrder = {
  /** Its id or its name. */
  account: string;
  name: string;
  /** Null: it is good until it is revoked. */
  expiresAt: Date | null;
  actor: string;
};

/** `token` is the token itself. It is stored nowhere: this is the only time it can be seen. */
export type CreatedToken = Omit<Token, 'lastUsedAt' | 'revokedAt'> & { token: string };

/** Creates an API token for an account. */
export async function createToken(
  { db, clock }: OperatorPorts,
  order: TokenOrder,
): Promise<Result<CreatedToken, 'name_invalid' | 'no_such_account' | 'expires_in_the_past'>> {
  const { expiresAt, actor } = order;
  const name = readName(order.name);
  if (name === undefined) return refuse('name_invalid');
  const now = clock.now();
  if (expiresAt !== null && expiresAt <= now) return refuse('expires_in_the_past');
  const account = await accountBy(db, order.account);
  if (account === undefined) return refuse('no_such_account');

  const token = makeToken(randomBytes);
  const id = newTokenId(now);
  const row = { id, accountId: account.id, name, hint: hintOf(token), createdAt: now, expiresAt };
  await insertToken(db, { ...row, hash: hash('sha256', token, 'buffer') }, actor);
  return ok({ ...row, accountName: account.name, token });
}

/** The tokens of one account, called by id or name, or of all. Those that are not valid any more are listed too. */
export async function listTokens(
  { db, clock }: OperatorPorts,
  account: string | undefined,
): Promise<Result<(Token & { state: TokenState })[], 'no_such_account'>> {
  const of = account === undefined ? null : await accountBy(db, account);
  if (of === undefined) return refuse('no_such_account');
  const tokens = await tokensOf(db, of?.id ?? null);
  const now = clock.now();
  return ok(tokens.map((token) => ({ ...token, state: tokenState(token, now) })));
}

/** Ends a token for good; from the next request on it is refused. One that is revoked already stays as it is. */
export async function revokeToken(
  { db, clock }: OperatorPorts,
  { id, actor }: { id: string; actor: string },
): Promise<Result<Token, 'no_such_token'>> {
  await markRevoked(db, id, clock.now(), actor);
  const token = await tokenById(db, id);
  return token === undefined ? refuse('no_such_token') : ok(token);
}
