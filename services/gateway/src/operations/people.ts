import type { Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import {
  canonicalEmail,
  canonicalPassword,
  type PasswordRefusal,
  refusedPassword,
} from '../domain/password.ts';
import { mayGive, type Role } from '../domain/roles.ts';
import type { Ports } from '../ports.ts';
import type { Author } from '../store/audit-log.ts';
import { type Invitation, openInvitations, useInvitation } from '../store/invitations.ts';
import {
  lockPerson,
  type Member,
  memberOf,
  membersOf,
  noteAct,
  removeMember,
  storePassword,
  storeRole,
} from '../store/people.ts';
import { endSessions, isEnded } from '../store/sessions.ts';
import { lockAccount } from '../store/tokens.ts';
import { inviteMember, type NewInvitation } from './invitations.ts';
import { type PersonAsker, personAuthor } from './person-asker.ts';
import { type PasswordProofRefusal, provePassword } from './prove-person.ts';

/** What owners and admins do with the people of their account. */

type PeoplePorts = Pick<Ports, 'db' | 'clock'>;

const author = ({ session, client }: PersonAsker): Author => personAuthor(session.person, { client });

export const listPeople = ({ db }: Pick<Ports, 'db'>, account: AccountId): Promise<Member[]> =>
  membersOf(db, account);

export const listInvitations = ({ db }: Pick<Ports, 'db'>, account: AccountId): Promise<Invitation[]> =>
  openInvitations(db, account);

type Order = PersonAsker & { email: string; role: Role };

/** Invites somebody. Nobody gets an e-mail: the one who asks passes the token on. */
export function inviteSomebody(
  { db, clock }: PeoplePorts,
  { email: given, role, ...asker }: Order,
): Promise<Result<NewInvitation, 'email_invalid' | 'forbidden' | 'member_already'>> {
  const { account, accountName } = asker.session;
  return db.transaction(async (trx) => {
    const email = canonicalEmail(given);
    if (email === undefined) return refuse('email_invalid');
    const own = await lockedRole(trx, asker);
    if (own === undefined || !mayGive(own, role)) return refuse('forbidden');
    const of = { accountId: account, accountName, role };
    return inviteMember(trx, { email, of, author: author(asker), now: clock.now() });
  });
}

/** The role of the person that asks, at this moment: others who change the people of the account wait. */
async function lockedRole(trx: Trx, { session }: PersonAsker): Promise<Role | undefined> {
  await lockAccount(trx, session.account);
  return (await memberOf(trx, session.account, session.person))?.role;
}

/** Withdraws an invitation that nobody has used. */
export function withdrawInvitation(
  { db }: Pick<Ports, 'db'>,
  { id, ...asker }: PersonAsker & { id: string },
): Promise<Result<Invitation, 'not_found' | 'forbidden'>> {
  const { account } = asker.session;
  return db.transaction(async (trx) => {
    const own = await lockedRole(trx, asker);
    const found = (await openInvitations(trx, account)).find((one) => one.id === id);
    if (found === undefined) return refuse('not_found');
    if (own === undefined || found.role === null || !mayGive(own, found.role)) return refuse('forbidden');
    if (!(await useInvitation(trx, found.id))) return refuse('not_found');
    const act = { author: author(asker), account, subject: found.id, detail: found.email };
    await noteAct(trx, { ...act, action: 'person.invitation_withdrawn' });
    return ok(found);
  });
}

type ChangeRefusal = 'not_found' | 'forbidden' | 'last_owner';

/** Gives somebody of the account another role. The person has to sign in again. */
export const changeRole = (
  { db }: Pick<Ports, 'db'>,
  { id, role, ...asker }: PersonAsker & { id: string; role: Role },
): Promise<Result<Member, ChangeRefusal>> =>
  db.transaction(async (trx) => {
    const found = await changeable(trx, asker, id, role);
    if (!found.ok || found.value.role === role) return found;
    await storeRole(trx, found.value, role);
    await endSessions(trx, found.value.id);
    const { account } = asker.session;
    const detail = `${found.value.role} to ${role}`;
    await noteAct(trx, {
      author: author(asker),
      action: 'person.role_changed',
      account,
      subject: id,
      detail,
    });
    return ok({ ...found.value, role });
  });

/** Takes somebody out of the account. The person's sessions there end. */
export const removePerson = (
  { db }: Pick<Ports, 'db'>,
  { id, ...asker }: PersonAsker & { id: string },
): Promise<Result<Member, ChangeRefusal>> =>
  db.transaction(async (trx) => {
    const found = await changeable(trx, asker, id);
    if (!found.ok) return found;
    await removeMember(trx, found.value);
    const { account } = asker.session;
    const detail = found.value.email;
    await noteAct(trx, { author: author(asker), action: 'person.removed', account, subject: id, detail });
    return found;
  });

/** Somebody of the account whom the person that asks may change. An account keeps an owner. */
async function changeable(
  trx: Trx,
  asker: PersonAsker,
  id: string,
  next?: Role,
): Promise<Result<Member, ChangeRefusal>> {
  const { account } = asker.session;
  const own = await lockedRole(trx, asker);
  const members = await membersOf(trx, account);
  const member = members.find((one) => one.id === id);
  if (member === undefined) return refuse('not_found');
  if (own === undefined || !mayGive(own, member.role) || (next !== undefined && !mayGive(own, next)))
    return refuse('forbidden');
  const isLast = member.role === 'owner' && members.filter(({ role }) => role === 'owner').length === 1;
  return isLast && next !== 'owner' ? refuse('last_owner') : ok(member);
}

type PasswordChange = { current: string; next: string };

/** A new password of one's own, after a step-up. All other sessions of the person end. */
export async function changePassword(
  ports: PeoplePorts & Pick<Ports, 'limits' | 'passwords' | 'refusals' | 'commonPasswords'>,
  { session, client }: PersonAsker,
  { current, next }: PasswordChange,
): Promise<Result<void, PasswordProofRefusal | { kind: 'password'; why: PasswordRefusal }>> {
  const shown = await provePassword(ports, { email: session.email, password: current }, client);
  if (!shown.ok) return shown;
  const canonical = canonicalPassword(next);
  const why = refusedPassword(canonical, session.email, ports.commonPasswords);
  if (why !== undefined) return refuse({ kind: 'password', why });
  const hash = await ports.passwords.hash(canonical);
  const act = { author: personAuthor(session.person, { client }), account: session.account };
  return ports.db.transaction(async (trx) => {
    // The operator may have reset the person meanwhile: then no password of this session may stay.
    if ((await lockPerson(trx, session.person)) !== shown.value.passwordHash)
      return refuse({ kind: 'wrong' });
    if (await isEnded(trx, session.id)) return refuse({ kind: 'wrong' });
    await storePassword(trx, session.person, hash);
    await endSessions(trx, session.person, { but: session.id });
    await noteAct(trx, { ...act, action: 'person.password_changed', subject: session.person });
    return ok(undefined);
  });
}
