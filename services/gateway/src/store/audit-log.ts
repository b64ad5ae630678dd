import { type Queryable, query, type Selection, statement } from '@quittance/shared/db';
import type { AccountId, TokenId } from '@quittance/shared/ids';
import { countOf, type Place, pageOfFound } from '@quittance/shared/pages';
import type { AuditEntry } from '../audit-chain.ts';

/** Who does something, and from where: the address of a client, or the computer of the command line. */
export type Author = { actor: string; source?: string | undefined };

/** For the two columns `actor` and `source`. */
export const valuesOf = ({ actor, source }: Author): [string, string | null] => [actor, source ?? null];

const columns = `
  position::numeric as position, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, actor, source, written_by, action,
  account_id, token_id, subject, detail, encode(hash, 'hex') as hash`;

const selectAfter = query<AuditEntry>(
  'audit_log_after',
  `select ${columns} from gateway.audit_log where position > $1 order by position limit $2`,
);

/** The entries that come after a position, in their order. */
export const entriesAfter = (db: Queryable, position: bigint, limit: number): Promise<AuditEntry[]> =>
  db.rows(selectAfter, [position, limit]);

const selectLast = query<AuditEntry>(
  'audit_log_last',
  `select * from (select ${columns} from gateway.audit_log where position is not null order by position desc limit $1) l
   order by position`,
);

/** The last entries, in their order. */
export const lastEntries = (db: Queryable, limit: number): Promise<AuditEntry[]> =>
  db.rows(selectLast, [limit]);

const countUnchained = query<{ count: number }>(
  'audit_log_unchained',
  'select count(*)::int as count from gateway.audit_log where position is null',
);

/** Committed entries without a place in the chain: the log's trigger leaves none. */
export const unchainedEntries = async (db: Queryable): Promise<number> =>
  (await db.one(countUnchained)).count;

const insertRequest = statement(
  'audit_log_request',
  `insert into audit_log (actor, source, action, account_id, token_id, subject, detail)
   values ($1, $2, 'settings.change_requested', $3, $4, $5, $6)`,
);

/** Stores that somebody has requested a change: what (`PUT /api/payout-policy`), and the id of the request. */
export async function insertRequestedChange(
  db: Queryable,
  author: Author,
  {
    account,
    tokenId,
    what,
    requestId,
  }: { account: AccountId; tokenId: TokenId | null; what: string; requestId: string },
): Promise<void> {
  await db.rows(insertRequest, [...valuesOf(author), account, tokenId, what, requestId]);
}

/** An entry as its account sees it, with the names of who acted, where they are still known. */
export type AccountEntry = Pick<AuditEntry, 'actor' | 'source' | 'action' | 'subject' | 'detail' | 'hash'> & {
  at: Date;
  tokenId: TokenId | null;
  actorName: string | null;
};

// What somebody of the account does as an operator is no business of the account.
const ofAccount = `gateway.audit_log l where l.account_id = $1 and l.position is not null
  and (l.subject is null or l.subject not like '% /api/operator/%')`;
const accountColumns = `l.at, l.actor, l.source, l.action, l.token_id, l.subject, l.detail, encode(l.hash, 'hex') as hash,
  coalesce((select name from gateway.people p where l.actor = 'person ' || p.id),
    (select name from gateway.tokens t where l.actor = 'token ' || t.id)) as actor_name`;

const countOfAccount = query<{ total: number }>('audit_log_of_account_total', countOf(ofAccount));
const pageOfAccount = query<AccountEntry>(
  'audit_log_of_account_page',
  `select ${accountColumns} from ${ofAccount} order by l.position desc limit $2 offset $3`,
);

/** A page of the entries of an account, newest first, and how many there are. */
export async function accountEntriesPage(
  db: Queryable,
  account: AccountId,
  place: Place,
): Promise<{ items: AccountEntry[]; total: number }> {
  const { total } = await db.one(countOfAccount, [account]);
  return pageOfFound(total, place, await db.rows(pageOfAccount, [account, place.limit + 1, place.offset]));
}

/** All of them. */
export const accountEntries = (account: AccountId): Selection<AccountEntry> => ({
  rows: query('', `select ${accountColumns} from ${ofAccount} order by l.position desc`),
  values: [account],
});
