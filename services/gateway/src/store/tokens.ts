import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, TokenId } from '@quittance/shared/ids';
import { requestBatcher } from '@quittance/shared/request-batcher';
import type { TokenState, TokenUse } from '../domain/token.ts';
import type { TokenLimits } from '../domain/token-limits.ts';
import { type Author, valuesOf } from './audit-log.ts';

export type Account = {
  id: AccountId;
  name: string;
  createdAt: Date;
  /** Of each of its tokens. Null: the setting RATE_LIMIT_PER_MINUTE. */
  requestsPerMinute: number | null;
};

export type Token = TokenLimits & {
  id: TokenId;
  accountId: AccountId;
  accountName: string;
  name: string;
  hint: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  lastUsedIp: string | null;
  revokedAt: Date | null;
  /** The token that took its place. */
  replacedBy: TokenId | null;
};

export type ListedToken = Token & { state: TokenState };

/** `token` is the token itself. It is stored nowhere: this is the only time it can be seen. */
export type CreatedToken = Token & { token: string };

/** What limits a token: its own count, the number of its account, and the addresses from which it counts. */
export type LimitedToken = { tokenId: TokenId } & Pick<Account, 'requestsPerMinute'> &
  Pick<TokenLimits, 'allowedIps'>;

/** Whose request comes with an API token. */
export type TokenCaller = LimitedToken &
  TokenLimits & {
    account: AccountId;
    /** Of the token. */
    hash: Buffer;
  };

const insertAccountSql = statement(
  'account_insert',
  `with account as (
     insert into accounts (id, name, created_at) values ($1, $2, $3) returning id)
   insert into audit_log (actor, source, action, account_id) select $4, $5, 'account.created', id from account`,
);

/** Breaks `accounts_name_unique` when the name is taken. */
export async function insertAccount(
  db: Queryable,
  account: Omit<Account, 'requestsPerMinute'>,
  author: Author,
): Promise<void> {
  await db.rows(insertAccountSql, [account.id, account.name, account.createdAt, ...valuesOf(author)]);
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

const lockAccountSql = statement('account_lock', 'select 1 from accounts where id = $1 for no key update');

/** Has others who change the tokens of the account wait until the transaction ends. */
export async function lockAccount(trx: Trx, id: AccountId): Promise<void> {
  await trx.rows(lockAccountSql, [id]);
}

const updateLimitSql = statement(
  'account_limit_update',
  `with changed as (
     update accounts set requests_per_minute = $2
     where id = $1 and requests_per_minute is distinct from $2 returning id)
   insert into audit_log (actor, source, action, account_id, detail)
   select $3, $4, 'account.limit_changed', id, coalesce($2::text, 'default') from changed`,
);

export async function updateLimit(
  db: Queryable,
  id: AccountId,
  requestsPerMinute: number | null,
  author: Author,
): Promise<void> {
  await db.rows(updateLimitSql, [id, requestsPerMinute, ...valuesOf(author)]);
}

export type NewToken = TokenLimits &
  Pick<Token, 'id' | 'accountId' | 'name' | 'hint' | 'createdAt'> & {
    hash: Buffer;
    replaces: TokenId | null;
    idempotencyKey: string | null;
  };

const insertTokenSql = statement(
  'token_insert',
  `with token as (
     insert into tokens
       (id, account_id, name, hash, hint, created_at, expires_at, scopes, allowed_ips, replaces, idempotency_key)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     returning id, account_id, scopes, allowed_ips, expires_at, replaces)
   insert into audit_log (actor, source, action, account_id, token_id, detail)
   select $12, $13, 'token.created', account_id, id,
     nullif(concat_ws('; ', 'scopes ' || array_to_string(scopes, ' '), 'from ' || array_to_string(allowed_ips, ' '),
       'until ' || to_char(expires_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'replaces ' || replaces), '')
   from token`,
);

/** Breaks `tokens_account_exists` when there is no such account. */
export async function insertToken(db: Queryable, token: NewToken, author: Author): Promise<void> {
  const { id, accountId, name, hash, hint, createdAt, expiresAt } = token;
  const { scopes, allowedIps, replaces, idempotencyKey } = token;
  const limits = [expiresAt, scopes, allowedIps];
  const head = [id, accountId, name, hash, hint, createdAt];
  await db.rows(insertTokenSql, [...head, ...limits, replaces, idempotencyKey, ...valuesOf(author)]);
}

const endTokenSql = statement(
  'token_end',
  `with ended as (
     update tokens set expires_at = least(expires_at, $2) where id = $1 returning id, account_id, expires_at)
   insert into audit_log (actor, source, action, account_id, token_id, detail)
   select $3, $4, 'token.rotated', account_id, id, 'until ' || to_char(expires_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') from ended`,
);

/** Has a token that was replaced expire: never later than it would have. */
export async function endToken(db: Queryable, id: TokenId, at: Date, author: Author): Promise<void> {
  await db.rows(endTokenSql, [id, at, ...valuesOf(author)]);
}

export const tokenColumns = `
  t.id, t.account_id, a.name as account_name, t.name, t.hint, t.created_at, t.last_used_at, t.last_used_ip, t.expires_at,
  t.revoked_at, t.scopes, t.allowed_ips, r.id as replaced_by`;
export const tokenTables =
  'tokens t join accounts a on a.id = t.account_id left join tokens r on r.replaces = t.id';

const selectTokens = query<Token>(
  'tokens_select',
  `select ${tokenColumns} from ${tokenTables}
   where $1::text is null or a.id = $1
   order by a.created_at, a.id, t.created_at, t.id`,
);

export const tokensOf = (db: Queryable, account: AccountId | null): Promise<Token[]> =>
  db.rows(selectTokens, [account]);

const revokeTokenSql = statement(
  'token_revoke',
  `with revoked as (
     update tokens set revoked_at = $2 where id = $1 and revoked_at is null returning id, account_id)
   insert into audit_log (actor, source, action, account_id, token_id)
   select $3, $4, 'token.revoked', account_id, id from revoked`,
);

/** Leaves one that is revoked already as it is. */
export async function markRevoked(db: Queryable, id: string, at: Date, author: Author): Promise<void> {
  await db.rows(revokeTokenSql, [id, at, ...valuesOf(author)]);
}

const selectToken = query<Token>(
  'token_select',
  `select ${tokenColumns} from ${tokenTables} where t.id = $1`,
);

export const tokenById = (db: Queryable, id: string): Promise<Token | undefined> =>
  db.maybe(selectToken, [id]);

/** SQL: the token in `row` is valid. The database's clock decides about expiry, so that all gateways agree. */
export const isValid = (row: string): string =>
  `${row}.revoked_at is null and (${row}.expires_at is null or ${row}.expires_at > now())`;

const selectCallers = query<TokenCaller>(
  'callers_select',
  `select t.hash, t.id as token_id, t.account_id as account, a.requests_per_minute, t.scopes, t.allowed_ips, t.expires_at
   from tokens t join accounts a on a.id = t.account_id
   where t.hash = any($1::bytea[]) and ${isValid('t')}`,
);

/**
 * Reads whose token a hash is of, under load many in one statement. Undefined when it is nobody's, or not let in now. No
 * cache: each answer was read after its request came. With one batch in flight and one more, a request waits for at most
 * one that it is not in.
 */
export const callerReader = (db: Queryable): ((hash: Buffer) => Promise<TokenCaller | undefined>) =>
  requestBatcher({
    async run(hashes: readonly Buffer[]) {
      const found = await db.rows(selectCallers, [hashes]);
      const byHash = new Map(found.map((row) => [row.hash.toString('latin1'), row]));
      return hashes.map((hash): TokenCaller | undefined => byHash.get(hash.toString('latin1')));
    },
    max: 200,
    atOnce: 2,
  });

const selectRecentlyUsed = query<LimitedToken & { hash: Buffer }>(
  'tokens_recently_used',
  `select t.hash, t.id as token_id, a.requests_per_minute, t.allowed_ips from tokens t join accounts a on a.id = t.account_id
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
  `select id from tokens where id = any($1::text[]) and not (${isValid('tokens')})`,
);

/** Those of these tokens that are let in no more: revoked, or expired by the database's clock. */
export const endedTokens = async (db: Queryable, ids: readonly TokenId[]): Promise<TokenId[]> =>
  (await db.rows(selectEnded, [ids])).map(({ id }) => id);

const uses = bulk({ id: 'text', usedAt: 'timestamptz', usedIp: 'text' });

// Replicas write the uses of one token in any order: the latest stays.
const updateUses = statement(
  'token_uses_update',
  `update tokens set last_used_at = used.used_at, last_used_ip = used.used_ip::inet
   from ${uses.from('used')} where tokens.id = used.id and used.used_at >= coalesce(last_used_at, '-infinity')`,
);

export async function writeUses(db: Queryable, lastUses: ReadonlyMap<TokenId, TokenUse>): Promise<void> {
  const rows = [...lastUses].map(([id, { at, ip }]) => ({ id, usedAt: at, usedIp: ip ?? null }));
  await db.rows(updateUses, uses.values(rows));
}
