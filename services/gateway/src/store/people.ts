import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, PersonId } from '@quittance/shared/ids';
import type { Role } from '../domain/roles.ts';
import { type Author, valuesOf } from './audit-log.ts';

export type Person = {
  id: PersonId;
  email: string;
  name: string;
  /** Null: a new one must be set first. */
  passwordHash: string | null;
  createdAt: Date;
};

export type Membership = { accountId: AccountId; accountName: string; role: Role };

/** Somebody of an account, as others of it see them. */
export type Member = Pick<Person, 'id' | 'email' | 'name' | 'createdAt'> &
  Membership & { joinedAt: Date; lastSignInAt: Date | null };

const columns = 'id, email, name, password_hash, created_at';

const selectByEmail = query<Person>('person_by_email', `select ${columns} from people where email = $1`);

export const personByEmail = (db: Queryable, email: string): Promise<Person | undefined> =>
  db.maybe(selectByEmail, [email]);

const insertPersonSql = statement(
  'person_insert',
  'insert into people (id, email, name, password_hash, created_at) values ($1, $2, $3, $4, $5)',
);

/** Breaks `people_email_unique` when somebody has the address. */
export async function insertPerson(trx: Trx, person: Person): Promise<void> {
  const { id, email, name, passwordHash, createdAt } = person;
  await trx.rows(insertPersonSql, [id, email, name, passwordHash, createdAt]);
}

const lockSql = query<Pick<Person, 'passwordHash'>>(
  'person_lock',
  'select password_hash from people where id = $1 for update',
);

/**
 * To be done first by all that begins a session of a person or changes how the person signs in: then neither misses what the
 * other does, and none waits for the other's rows. @returns the hash of the password now; undefined when the person is gone
 */
export const lockPerson = async (trx: Trx, person: PersonId): Promise<string | null | undefined> =>
  (await trx.maybe(lockSql, [person]))?.passwordHash;

const updatePassword = statement('person_password', 'update people set password_hash = $2 where id = $1');

export async function storePassword(trx: Trx, id: PersonId, hash: string | null): Promise<void> {
  await trx.rows(updatePassword, [id, hash]);
}

const insertMembershipSql = statement(
  'membership_insert',
  'insert into memberships (person_id, account_id, role) values ($1, $2, $3) on conflict do nothing returning 1',
);

/** False when the person is in the account already, whatever the role. */
export const insertMembership = async (
  trx: Trx,
  { person, account, role }: { person: PersonId; account: AccountId; role: Role },
): Promise<boolean> => (await trx.rows(insertMembershipSql, [person, account, role])).length === 1;

const selectMemberships = query<Membership>(
  'memberships_of_person',
  `select m.account_id, a.name as account_name, m.role from memberships m join accounts a on a.id = m.account_id
   where m.person_id = $1 order by m.created_at, m.account_id`,
);

/** The accounts of a person, the first one first. */
export const membershipsOf = (db: Queryable, person: PersonId): Promise<Membership[]> =>
  db.rows(selectMemberships, [person]);

const selectMembers = query<Member>(
  'members_select',
  `select p.id, p.email, p.name, p.created_at, m.account_id, a.name as account_name, m.role, m.created_at as joined_at,
     (select max(s.signed_in_at) from sessions s where s.person_id = p.id and s.account_id = m.account_id) as last_sign_in_at
   from memberships m join people p on p.id = m.person_id join accounts a on a.id = m.account_id
   where ($1::text is null or m.account_id = $1) and ($2::text is null or p.id = $2)
   order by a.created_at, a.id, m.created_at, p.id`,
);

/** The people of an account, or of all of them. */
export const membersOf = (db: Queryable, account: AccountId | null): Promise<Member[]> =>
  db.rows(selectMembers, [account, null]);

export const memberOf = (db: Queryable, account: AccountId, person: string): Promise<Member | undefined> =>
  db.maybe(selectMembers, [account, person]);

const updateRole = statement(
  'membership_role',
  'update memberships set role = $3 where person_id = $1 and account_id = $2',
);

export async function storeRole(trx: Trx, { id, accountId }: Member, role: Role): Promise<void> {
  await trx.rows(updateRole, [id, accountId, role]);
}

const deleteMembership = statement(
  'membership_delete',
  'delete from memberships where person_id = $1 and account_id = $2',
);
const deleteAlone = statement(
  'person_delete',
  'delete from people p where id = $1 and not exists (select from memberships m where m.person_id = p.id)',
);

/** Takes a person out of an account, with the sessions there. Somebody who is in no other one is forgotten. */
export async function removeMember(trx: Trx, { id, accountId }: Member): Promise<void> {
  await lockPerson(trx, id);
  await trx.rows(deleteMembership, [id, accountId]);
  await trx.rows(deleteAlone, [id]);
}

export type Act = {
  author: Author;
  action: `person.${string}` | `session.${string}`;
  account?: AccountId | null;
  subject: string;
  detail?: string;
};

const insertAct = statement(
  'person_act',
  'insert into audit_log (actor, source, action, account_id, subject, detail) values ($1, $2, $3, $4, $5, $6)',
);

/** Writes to the audit log what somebody did about a person, in the transaction that does it. */
export async function noteAct(
  db: Queryable,
  { author, action, account, subject, detail }: Act,
): Promise<void> {
  await db.rows(insertAct, [...valuesOf(author), action, account ?? null, subject, detail ?? null]);
}
