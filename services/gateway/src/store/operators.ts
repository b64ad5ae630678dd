import { type Queryable, query } from '@quittance/shared/db';
import type { PersonId } from '@quittance/shared/ids';
import { countOf, type Place, pageOfFound } from '@quittance/shared/pages';
import { type Author, valuesOf } from './audit-log.ts';
import { type Account, isValid } from './tokens.ts';

/* What the console of operators reads and does beside what merchants do. */

const selectOperator = query<{ isOperator: boolean }>(
  'operator_is',
  'select exists (select from operators where person_id = $1) as is_operator',
);

/** Whether the person operates this installation. */
export const isOperator = async (db: Queryable, person: PersonId): Promise<boolean> =>
  (await db.one(selectOperator, [person])).isOperator;

export type OperatedAccountRow = Account & { people: number; tokens: number };

const ofName = `accounts a where $1::text is null or strpos(lower(a.name), lower($1)) > 0 or a.id = $1`;
const countAccounts = query<{ total: number }>('operator_accounts_count', countOf(ofName));
const selectAccounts = query<OperatedAccountRow>(
  'operator_accounts_page',
  `select a.id, a.name, a.created_at, a.requests_per_minute,
     (select count(*)::int from memberships m where m.account_id = a.id) as people,
     (select count(*)::int from tokens t where t.account_id = a.id and (${isValid('t')})) as tokens
   from ${ofName} order by a.created_at desc, a.id desc limit $2 offset $3`,
);

/** A page of all accounts, newest first. @param search a part of the name, or the id; null: all */
export async function accountsPage(
  db: Queryable,
  search: string | null,
  place: Place,
): Promise<{ items: OperatedAccountRow[]; total: number }> {
  const { total } = await db.one(countAccounts, [search]);
  const found = await db.rows(selectAccounts, [search, place.limit + 1, place.offset]);
  return pageOfFound(total, place, found);
}

export type DeadLetter = {
  service: string;
  eventId: string;
  kind: string;
  failure: string;
  failedAt: Date;
  senders: string[];
};

const selectDeadLetters = query<DeadLetter>(
  'operator_dead_letters',
  'select service, event_id, kind, failure, failed_at, senders from operator.listed_dead_letters($1)',
);

/** The oldest dead letters of all services. */
export const deadLetters = (db: Queryable, limit: number): Promise<DeadLetter[]> =>
  db.rows(selectDeadLetters, [limit]);

const retrySql = query<{ senders: string[] | null }>(
  'operator_retry',
  'select operator.retry_from_console($1, $2, $3, $4) as senders',
);

/**
 * Has the senders of a dead letter send it again, and writes the audit log.
 * @returns the senders; none when no outbox has it; undefined when it is no dead letter
 */
export async function retryDeadLetter(
  db: Queryable,
  { service, event }: { service: string; event: string },
  author: Author,
): Promise<string[] | undefined> {
  return (await db.one(retrySql, [service, event, ...valuesOf(author)])).senders ?? undefined;
}
