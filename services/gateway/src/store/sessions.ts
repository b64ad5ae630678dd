import { type Queryable, query, statement } from '@quittance/shared/db';
import type { AccountId, PersonId, SessionId } from '@quittance/shared/ids';
import type { Role } from '../domain/roles.ts';

/** For how long a session lasts. */
export type SessionLife = { idleMinutes: number; hours: number };

export type Session = {
  id: SessionId;
  person: PersonId;
  account: AccountId;
  signedInAt: Date;
  steppedUpAt: Date;
  lastUsedAt: Date;
  address: string | null;
  userAgent: string | null;
};

/** Whose session a request has: the role is that of this moment. */
export type PersonSession = Session & {
  email: string;
  name: string;
  accountName: string;
  role: Role;
  /** Of the installation. */
  isOperator: boolean;
};

const columns = `
  s.id, s.person_id as person, s.account_id as account, s.signed_in_at, s.stepped_up_at, s.last_used_at, s.address, s.user_agent`;

/** SQL: the session in `s` is let in. The database's clock decides, so that all gateways agree. */
const isValid = (idle: string, hours: string): string =>
  `s.ended_at is null and s.last_used_at > now() - ${idle}::int * interval '1 minute'
   and s.signed_in_at > now() - ${hours}::int * interval '1 hour'`;

const selectSession = query<PersonSession>(
  'session_select',
  `select ${columns}, p.email, p.name, a.name as account_name, m.role,
     exists (select from operators o where o.person_id = s.person_id) as is_operator
   from sessions s join people p on p.id = s.person_id join accounts a on a.id = s.account_id
     join memberships m on m.person_id = s.person_id and m.account_id = s.account_id
   where s.token_hash = $1 and ${isValid('$2', '$3')}`,
);

/** Whose session this is the hash of. Undefined when it is nobody's, ended or expired. No cache: it is asked each time. */
export const sessionOf = (
  db: Queryable,
  hash: Buffer,
  { idleMinutes, hours }: SessionLife,
): Promise<PersonSession | undefined> => db.maybe(selectSession, [hash, idleMinutes, hours]);

const updateUsed = statement(
  'session_used',
  `update sessions set last_used_at = $2 where id = $1 and last_used_at < $2::timestamptz - interval '1 minute'`,
);

/** Writes that a session was used, at most once a minute. */
export async function noteUsed(db: Queryable, id: SessionId, now: Date): Promise<void> {
  await db.rows(updateUsed, [id, now]);
}

const insertSessionSql = statement(
  'session_insert',
  `insert into sessions
     (id, token_hash, person_id, account_id, signed_in_at, stepped_up_at, last_used_at, address, user_agent)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

/** Breaks `sessions_of_a_member` when the person has just been removed from the account. */
export async function insertSession(db: Queryable, session: Session, hash: Buffer): Promise<void> {
  const { id, person, account, signedInAt, steppedUpAt, lastUsedAt, address, userAgent } = session;
  const times = [signedInAt, steppedUpAt, lastUsedAt];
  await db.rows(insertSessionSql, [id, hash, person, account, ...times, address, userAgent]);
}

const selectSessions = query<Session>(
  'sessions_of_person',
  `select ${columns} from sessions s where s.person_id = $1 and ${isValid('$2', '$3')}
   order by s.last_used_at desc, s.id desc limit 200`,
);

/** The sessions of a person, in every account, the one used last first. */
export const sessionsOf = (
  db: Queryable,
  person: PersonId,
  { idleMinutes, hours }: SessionLife,
): Promise<Session[]> => db.rows(selectSessions, [person, idleMinutes, hours]);

const endSessionsSql = query<{ id: SessionId }>(
  'sessions_end',
  `update sessions set ended_at = now()
   where person_id = $1 and ($2::text is null or id = $2) and ($3::text is null or id <> $3) and ended_at is null returning id`,
);

/** Ends the sessions of a person: all, one of them, or all but one. @returns those that were not ended before */
export const endSessions = (
  db: Queryable,
  person: PersonId,
  { only = null, but = null }: { only?: string | null; but?: SessionId | null } = {},
): Promise<{ id: SessionId }[]> => db.rows(endSessionsSql, [person, only, but]);

const selectOpen = statement('session_open', 'select 1 from sessions where id = $1 and ended_at is null');

/** Whether somebody has ended this session, or it is gone. */
export const isEnded = async (db: Queryable, id: SessionId): Promise<boolean> =>
  (await db.rows(selectOpen, [id])).length === 0;

const selectEnded = query<{ id: SessionId }>(
  'sessions_ended',
  `select id from unnest($1::text[]) as given(id) where not exists (
     select from sessions s where s.id = given.id and ${isValid('$2', '$3')})`,
);

/** Those of these sessions that are let in no more. */
export const endedSessions = async (
  db: Queryable,
  ids: readonly SessionId[],
  { idleMinutes, hours }: SessionLife,
): Promise<SessionId[]> => (await db.rows(selectEnded, [ids, idleMinutes, hours])).map(({ id }) => id);

const selectKnown = query<{ known: boolean }>(
  'session_known_client',
  `select exists (select from sessions
     where person_id = $1 and address = $2 and signed_in_at > now() - interval '90 days') as known`,
);

/** Whether the person has signed in from this address within 90 days. */
export const isKnownClient = async (
  db: Queryable,
  person: PersonId | null,
  address: string | null,
): Promise<boolean> => (await db.one(selectKnown, [person, address])).known;

const deleteOld = statement(
  'sessions_delete_old',
  `delete from sessions where person_id = $1 and signed_in_at < now() - interval '90 days'`,
);

export async function deleteOldSessions(db: Queryable, person: PersonId): Promise<void> {
  await db.rows(deleteOld, [person]);
}
