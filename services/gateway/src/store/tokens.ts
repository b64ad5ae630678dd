import { bulk, type Queryable, query, statement } from '@quittance/shared/db';
import type { AccountId, TokenId } from '@quittance/shared/ids';
import { requestBatcher } from '@quittance/shared/request-batcher';

export type Account = {
  id: AccountId;
  name: string;
  createdAt: Date;
  /** Of each of its tokens. Null: the setting RATE_LIMIT_PER_MINUTE. */
  requestsPerMinute: number | null;
};

export type Token = {
  id: TokenId;
  accountId: AccountId;
  accountName: string;
  name: string;
  hint: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
};

/** What limits a token: its own count, and the number of its account. */
export type LimitedToken = { tokenId: TokenId } & Pick<Account, 'requestsPerMinute'>;

export type Caller = LimitedToken & { account: AccountId };

const insertAccountSql = statement(
  'account_insert',
  `with account as (
     insert into accounts (id, name, created_at) values ($1, $2, $3) returning id)
   insert into audit_log (actor, action, account_id) select $4, 'account.created', id from account`,
);

/** Breaks `accounts_name_unique` when the name is taken. */
export async function insertAccount(
  db: Queryable,
  account: Omit<Account, 'requestsPerMinute'>,
  actor: string,
): Promise<void> {
  await db.rows(insertAccountSql, [account.id, account.name, account.createdAt, actor]);
}

const accountColumns = 'id, name, created_at, requests_per_minute';

const selectAccounts = query<Account>(
  'accounts_select',
  `select ${accountColumns} from accounts order by created_at, id`,
);

export const allAccounts = (db: Queryable): Promise<Account[]> => db.rows(selectAccounts);

const selectAccount = query<Account>(
  'account_select',
  `select ${accountColumns} from accounts where id = $1 or name = $1`,
);

/** By id or by name: no name looks like an id. */
export const accountBy = (db: Queryable, idOrName: string): Promise<Account | undefined> =>
  db.maybe(selectAccount, [idOrName]);

const updateLimitSql = statement(
  'account_limit_update',
  `with changed as (
     update accounts set requests_per_minute = $2
     where id = $1 and requests_per_minute is distinct from $2 returning id)
   insert into audit_log (actor, action, account_id, detail)
   select $3, 'account.limit_changed', id, coalesce($2::text, 'default') from changed`,
);

export async function updateLimit(
  db: Queryable,
  id: AccountId,
  requestsPerMinute: number | null,
  actor: string,
): Promise<void> {
  await db.rows(updateLimitSql, [id, requestsPerMinute, actor]);
}

export type NewToken = Pick<Token, 'id' | 'accountId' | 'name' | 'hint' | 'createdAt' | 'expiresAt'> & {
  hash: Buffer;
};

const insertTokenSql = statement(
  'token_insert',
  `with token as (
     insert into tokens (id, account_id, name, hash, hint, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7) returning id, account_id)
   insert into audit_log (actor, action, account_id, token_id)
   select $8, 'token.created', account_id, id from token`,
);

/** Breaks `tokens_account_exists` when there is no such account. */
export async function insertToken(db: Queryable, token: NewToken, actor: string): Promise<void> {
  const { id, accountId, name, hash, hint, createdAt, expiresAt } = token;
  await db.rows(insertTokenSql, [id, accountId, name, hash, hint, createdAt, expiresAt, actor]);
}

const tokenColumns = `
  t.id, t.account_id, a.name as account_name, t.name, t.hint, t.created_at, t.last_used_at, t.expires_at, t.revoked_at`;

const selectTokens = query<Token>(
  'tokens_select',
  `select ${tokenColumns} from tokens t join accounts a on a.id = t.account_id
   where $1::text is null or a.id = $1
   order by a.created_at, a.id, t.created_at, t.id`,
);

export const tokensOf = (db: Queryable, account: AccountId | null): Promise<Token[]> =>
  db.rows(selectTokens, [account]);

const revokeTokenSql = statement(
  'token_revoke',
  `with revoked as (
     update tokens set revoked_at = $2 where id = $1 and revoked_at is null returning id, account_id)
   insert into audit_log (actor, action, account_id, token_id)
   select $3, 'token.revoked', account_id, id from revoked`,
);

/** Leaves one that is revoked already as it is. */
export async function markRevoked(db: Queryable, id: string, at: Date, actor: string): Promise<void> {
  await db.rows(revokeTokenSql, [id, at, actor]);
}

const selectToken = query<Token>(
  'token_select',
  `select ${tokenColumns} from tokens t join accounts a on a.id = t.account_id where t.id = $1`,
);

export const tokenById = (db: Queryable, id: string): Promise<Token | undefined> =>
  db.maybe(selectToken, [id]);

// The database's clock decides about expiry, so that all gateways agree.
const selectCallers = query<Caller & { hash: Buffer }>(
  'callers_select',
  `select t.hash, t.id as token_id, t.account_id as account, a.requests_per_minute
   from tokens t join accounts a on a.id = t.account_id
   where t.hash = any($1::bytea[]) and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`,
);

/**
 * Reads whose token a hash is of, under load many in one statement. Undefined when it is nobody's, or not let in now. No
 * cache: each answer was read after its request came. With one batch in flight and one more, a request waits for at most
 * one that it is not in.
 */
export const callerReader = (db: Queryable): ((hash: Buffer) => Promise<Caller | undefined>) =>
  requestBatcher({
    async run(hashes: readonly Buffer[]) {
      const found = await db.rows(selectCallers, [hashes]);
      const byHash = new Map(found.map((row) => [row.hash.toString('latin1'), row]));
      return hashes.map((hash): Caller | undefined => byHash.get(hash.toString('latin1')));
    },
    max: 200,
    atOnce: 2,
  });

const selectRecentlyUsed = query<LimitedToken & { hash: Buffer }>(
  'tokens_recently_used',
  `select t.hash, t.id as token_id, a.requests_per_minute from tokens t join accounts a on a.id = t.account_id
   where t.revoked_at is null and t.last_used_at > now() - interval '7 days'
   order by t.last_used_at desc limit $1`,
);

/** The hashes of tokens that were used within a week, through any gateway; the latest first. */
export const recentlyUsedTokens = (
  db: Queryable,
  limit: number,
): Promise<(LimitedToken & { hash: Buffer })[]> => db.rows(selectRecentlyUsed, [limit]);

const selectEnded = query<{ id: TokenId }>(
  'tokens_ended',
  `select id from tokens where id = any($1::text[]) and (revoked_at is not null or expires_at <= now())`,
);

/** Those of these tokens that are let in no more: revoked, or expired by the database's clock. */
export const endedTokens = async (db: Queryable, ids: readonly TokenId[]): Promise<TokenId[]> =>
  (await db.rows(selectEnded, [ids])).map(({ id }) => id);

const uses = bulk({ id: 'text', usedAt: 'timestamptz' });

const updateUses = statement(
  'token_uses_update',
  `update tokens set last_used_at = greatest(last_used_at, used.used_at)
   from ${uses.from('used')} where tokens.id = used.id`,
);

export async function writeUses(db: Queryable, lastUses: ReadonlyMap<TokenId, Date>): Promise<void> {
  await db.rows(updateUses, uses.values([...lastUses].map(([id, usedAt]) => ({ id, usedAt }))));
}
