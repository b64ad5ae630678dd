import type { Trx } from '@quittance/shared/db';
import { brokenConstraint } from '@quittance/shared/db-errors';
import { type AccountId, newInvitationId, newPersonId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { canonicalPassword, type PasswordRefusal, refusedPassword } from '../domain/password.ts';
import type { Role } from '../domain/roles.ts';
import { readName } from '../domain/token.ts';
import type { Ports } from '../ports.ts';
import type { Author } from '../store/audit-log.ts';
import {
  type Invitation,
  insertInvitation,
  invitationOf,
  useInvitation,
  withdrawInvitations,
} from '../store/invitations.ts';
import {
  insertMembership,
  insertPerson,
  membersOf,
  noteAct,
  type Person,
  personByEmail,
  storePassword,
} from '../store/people.ts';
import { endSessions, type PersonSession } from '../store/sessions.ts';
import { digestOf, newSecret } from './one-time-secret.ts';
import { personAuthor } from './person-asker.ts';

const HOUR_MS = 3_600_000;
const INVITED_MS = 72 * HOUR_MS;
const RESET_MS = 24 * HOUR_MS;
const PREFIX = 'qi_';

/** An invitation with its token, which is shown once and stored nowhere. */
export type NewInvitation = Invitation & { token: string };

export type InvitationOrder = {
  email: string;
  /** Without an account: a new password for somebody who exists. */
  of: { accountId: AccountId; accountName: string; role: Role } | null;
  author: Author;
  now: Date;
};

/** A one-time token for a new password. It takes the place of one before it. `email` is canonical. */
export async function invite(trx: Trx, { email, of, author, now }: InvitationOrder): Promise<NewInvitation> {
  const { secret, digest } = newSecret(PREFIX);
  const { accountId = null, accountName = null, role = null } = of ?? {};
  const expiresAt = new Date(now.getTime() + (of === null ? RESET_MS : INVITED_MS));
  const invitation = { id: newInvitationId(now), email, accountId, role, createdAt: now, expiresAt };
  await withdrawInvitations(trx, email, accountId);
  await insertInvitation(trx, invitation, digest);
  const action = of === null ? 'person.reset' : 'person.invited';
  const detail = of === null ? email : `${email} as ${of.role}`;
  await noteAct(trx, { author, action, account: accountId, subject: invitation.id, detail });
  return { ...invitation, accountName, token: secret };
}

/** Invites somebody into an account whose people nobody else changes meanwhile. */
export async function inviteMember(
  trx: Trx,
  order: InvitationOrder & { of: { accountId: AccountId } },
): Promise<Result<NewInvitation, 'member_already'>> {
  const members = await membersOf(trx, order.of.accountId);
  if (members.some(({ email }) => email === order.email)) return refuse('member_already');
  return ok(await invite(trx, order));
}

export type AcceptanceRefusal =
  | { kind: 'not_valid' }
  /** Somebody with this address exists: only that person may accept it, with a session. */
  | { kind: 'sign_in_first' }
  | { kind: 'member_already' }
  | { kind: 'name_needed' }
  | { kind: 'password_needed' }
  | { kind: 'password'; why: PasswordRefusal };

type Acceptance = { token: string; name: string | null; password: string | null };
type AcceptPorts = Pick<Ports, 'db' | 'clock' | 'passwords' | 'commonPasswords'>;
type Accepted = Pick<Person, 'id' | 'email' | 'name'>;

/** Uses a one-time token: a new person, an account more, or a new password. */
export async function acceptInvitation(
  ports: AcceptPorts,
  { token, name, password }: Acceptance,
  { session, client }: { session: PersonSession | undefined; client: string | undefined },
): Promise<Result<Accepted, AcceptanceRefusal>> {
  const { db, commonPasswords } = ports;
  const invitation = await invitationOf(db, digestOf(token));
  if (invitation === undefined) return refuse({ kind: 'not_valid' });
  const person = await personByEmail(db, invitation.email);
  const isReset = invitation.accountId === null;
  if (isReset && person === undefined) return refuse({ kind: 'not_valid' });
  if (!isReset && person !== undefined) {
    if (person.id === session?.person) return join(ports, invitation, person, client);
    // The person may have begun with this very invitation, after it was read.
    const isOpen = (await invitationOf(db, digestOf(token))) !== undefined;
    return refuse({ kind: isOpen ? 'sign_in_first' : 'not_valid' });
  }
  const called = person?.name ?? readName(name ?? '');
  if (called === undefined) return refuse({ kind: 'name_needed' });
  if (password === null) return refuse({ kind: 'password_needed' });
  const canonical = canonicalPassword(password);
  const why = refusedPassword(canonical, invitation.email, commonPasswords);
  if (why !== undefined) return refuse({ kind: 'password', why });
  const passwordHash = await ports.passwords.hash(canonical);
  return person === undefined
    ? begin(ports, invitation, { name: called, passwordHash }, client)
    : setAgain(ports, invitation, { ...person, passwordHash }, client);
}

/** Of an invitation that two accept at once, one finds it used. */
class UsedBefore extends Error {}

async function usedOnce<T>(
  work: () => Promise<Result<T, AcceptanceRefusal>>,
): Promise<Result<T, AcceptanceRefusal>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsedBefore) return refuse({ kind: 'not_valid' });
    if (brokenConstraint(error) === 'people_email_unique') return refuse({ kind: 'sign_in_first' });
    throw error;
  }
}

async function use(trx: Trx, { id }: Invitation): Promise<void> {
  if (!(await useInvitation(trx, id))) throw new UsedBefore();
}

const begin = (
  { db, clock }: AcceptPorts,
  invitation: Invitation,
  given: Pick<Person, 'name'> & { passwordHash: string },
  client: string | undefined,
): Promise<Result<Accepted, AcceptanceRefusal>> =>
  usedOnce(() =>
    db.transaction(async (trx) => {
      const now = clock.now();
      const person = { id: newPersonId(now), email: invitation.email, createdAt: now, ...given };
      await use(trx, invitation);
      await insertPerson(trx, person);
      await joinAccount(trx, invitation, person, client);
      return ok(person);
    }),
  );

const join = (
  { db }: AcceptPorts,
  invitation: Invitation,
  person: Person,
  client: string | undefined,
): Promise<Result<Accepted, AcceptanceRefusal>> =>
  usedOnce(() =>
    db.transaction(async (trx) => {
      await use(trx, invitation);
      return (await joinAccount(trx, invitation, person, client))
        ? ok(person)
        : refuse({ kind: 'member_already' });
    }),
  );

async function joinAccount(
  trx: Trx,
  { id, accountId, role }: Invitation,
  person: Accepted,
  client: string | undefined,
): Promise<boolean> {
  if (accountId === null || role === null) return false;
  if (!(await insertMembership(trx, { person: person.id, account: accountId, role }))) return false;
  const author = personAuthor(person.id, { client });
  const detail = `${person.email} as ${role}, by ${id}`;
  await noteAct(trx, { author, action: 'person.joined', account: accountId, subject: person.id, detail });
  return true;
}

const setAgain = (
  { db }: AcceptPorts,
  invitation: Invitation,
  person: Person & { passwordHash: string },
  client: string | undefined,
): Promise<Result<Accepted, AcceptanceRefusal>> =>
  usedOnce(() =>
    db.transaction(async (trx) => {
      await use(trx, invitation);
      await storePassword(trx, person.id, person.passwordHash);
      await endSessions(trx, person.id);
      const author = personAuthor(person.id, { client });
      await noteAct(trx, {
        author,
        action: 'person.password_set',
        subject: person.id,
        detail: invitation.id,
      });
      return ok(person);
    }),
  );
