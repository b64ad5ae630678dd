import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { canonicalEmail } from '../domain/password.ts';
import { type Role, roles } from '../domain/roles.ts';
import type { Ports } from '../ports.ts';
import type { Author } from '../store/audit-log.ts';
import { deletePasskeys } from '../store/passkeys.ts';
import {
  type Member,
  membersOf,
  noteAct,
  personByEmail,
  removeMember,
  storePassword,
} from '../store/people.ts';
import { removeTotp, replaceRecoveryCodes } from '../store/second-factors.ts';
import { endSessions } from '../store/sessions.ts';
import { accountBy, lockAccount } from '../store/tokens.ts';
import { invite, inviteMember, type NewInvitation } from './invitations.ts';

/** What an operator does with people: the first owner of an account, and people who have lost their password. */
type OperatorPorts = Pick<Ports, 'db' | 'clock'>;

export const allRoles: readonly Role[] = roles;

type OfPerson = Author & { account: string; email: string };

export async function inviteAsOperator(
  { db, clock }: OperatorPorts,
  { account: of, email: given, role, ...author }: OfPerson & { role: Role },
): Promise<Result<NewInvitation, 'no_such_account' | 'email_invalid' | 'member_already'>> {
  const email = canonicalEmail(given);
  if (email === undefined) return refuse('email_invalid');
  const account = await accountBy(db, of);
  if (account === undefined) return refuse('no_such_account');
  return db.transaction(async (trx) => {
    await lockAccount(trx, account.id);
    const { id: accountId, name: accountName } = account;
    const of = { accountId, accountName, role };
    return inviteMember(trx, { email, of, author, now: clock.now() });
  });
}

/** The people of an account, or of all accounts. */
export async function listAsOperator(
  { db }: Pick<Ports, 'db'>,
  account?: string,
): Promise<Result<Member[], 'no_such_account'>> {
  const found = account === undefined ? undefined : await accountBy(db, account);
  if (account !== undefined && found === undefined) return refuse('no_such_account');
  const id: AccountId | null = found?.id ?? null;
  return ok(await membersOf(db, id));
}

/** Takes somebody out of an account, also its last owner. */
export async function removeAsOperator(
  { db }: Pick<Ports, 'db'>,
  { account: of, email, ...author }: OfPerson,
): Promise<Result<Member, 'no_such_account' | 'no_such_person'>> {
  const account = await accountBy(db, of);
  if (account === undefined) return refuse('no_such_account');
  return db.transaction(async (trx) => {
    await lockAccount(trx, account.id);
    const member = (await membersOf(trx, account.id)).find((one) => one.email === canonicalEmail(email));
    if (member === undefined) return refuse('no_such_person');
    await removeMember(trx, member);
    const act = { author, account: account.id, subject: member.id, detail: member.email };
    await noteAct(trx, { ...act, action: 'person.removed' });
    return ok(member);
  });
}

/** Takes the password, the second factor and the passkeys away, ends all sessions, and returns a one-time token for a new password. */
export function resetAsOperator(
  { db, clock }: OperatorPorts,
  { email, ...author }: Author & { email: string },
): Promise<Result<NewInvitation, 'no_such_person'>> {
  return db.transaction(async (trx) => {
    const person = await personByEmail(trx, canonicalEmail(email) ?? '');
    if (person === undefined) return refuse('no_such_person');
    await storePassword(trx, person.id, null);
    await removeTotp(trx, person.id);
    await replaceRecoveryCodes(trx, person.id, []);
    await deletePasskeys(trx, person.id, null);
    await endSessions(trx, person.id);
    return ok(await invite(trx, { email: person.email, of: null, author, now: clock.now() }));
  });
}
