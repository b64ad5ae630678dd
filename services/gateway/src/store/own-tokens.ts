import { type Queryable, query } from '@quittance/shared/db';
import type { AccountId, TokenId } from '@quittance/shared/ids';
import { countOf, type Place, pageOfFound } from '@quittance/shared/pages';
import { isValid, type Token, tokenColumns, tokenTables } from './tokens.ts';

/** What only requests of merchants ask about the tokens of their account. */

const countListed = query<{ total: number }>('own_tokens_listed', countOf('tokens where account_id = $1'));

const selectPage = query<Token>(
  'own_tokens_page',
  `select ${tokenColumns} from ${tokenTables} where t.account_id = $1
   order by t.created_at desc, t.id desc limit $2 offset $3`,
);

/** A page of the tokens of an account, newest first, and how many there are. */
export async function tokensPage(
  db: Queryable,
  account: AccountId,
  place: Place,
): Promise<{ items: Token[]; total: number }> {
  const { total } = await db.one(countListed, [account]);
  return pageOfFound(total, place, await db.rows(selectPage, [account, place.limit + 1, place.offset]));
}

const countCounted = query<{ total: number }>(
  'own_tokens_counted',
  `select count(*)::int as total from tokens where account_id = $1
     and (created_at > now() - interval '1 day' or (${isValid('tokens')}))`,
);

/** Those that are valid, and those that were created within a day. */
export const countTokens = async (db: Queryable, account: AccountId): Promise<number> =>
  (await db.one(countCounted, [account])).total;

const selectOfKey = query<{ id: TokenId }>(
  'own_token_of_key',
  'select id from tokens where account_id = $1 and idempotency_key = $2',
);

/** The token that was created by a request with this Idempotency-Key. */
export const tokenOfKey = async (
  db: Queryable,
  account: AccountId,
  key: string,
): Promise<TokenId | undefined> => (await db.maybe(selectOfKey, [account, key]))?.id;
