import type { Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { canonicalEmail } from '../domain/password.ts';
import type { Role } from '../domain/roles.ts';
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
import { accountBy, lockAccount, tokensOf } from '../store/tokens.ts';
import { invite, inviteMember, type NewInvitation } from './invitations.ts';

/** What an operator does with people: the first owner of an account, and people who have lost their password. */
type OperatorPorts = Pick<Ports, 'db' | 'clock'>;

type OfPerson = Author & { account: string; email: string };

type InviteRefusal = 'no_such_account' | 'email_invalid' | 'member_already';
type InviteOrder = OfPerson & { role: Role };

export const inviteAsOperator = (
  ports: OperatorPorts,
  order: InviteOrder,
): Promise<Result<NewInvitation, InviteRefusal>> => inviteInto<never>(ports, order, async () => undefined);

/** The same into an account that has neither people nor has had an API token, and so nothing that could be taken. */
export const inviteFirstOwner = (
  ports: OperatorPorts,
  order: InviteOrder,
): Promise<Result<NewInvitation, InviteRefusal | 'account_in_use'>> =>
  inviteInto(ports, order, async (trx, account) =>
    (await isInUse(trx, account)) ? 'account_in_use' : undefined,
  );

async function inviteInto<R>(
  { db, clock }: OperatorPorts,
  { account: of, email: given, role, ...author }: InviteOrder,
  refusalOf: (trx: Trx, account: AccountId) => Promise<R | undefined>,
): Promise<Result<NewInvitation, InviteRefusal | R>> {
  const email = canonicalEmail(given);
  if (email === undefined) return refuse('email_invalid');
  const account = await accountBy(db, of);
  if (account === undefined) return refuse('no_such_account');
  return db.transaction(async (trx): Promise<Result<NewInvitation, InviteRefusal | R>> => {
    await lockAccount(trx, account.id);
    const refusal = await refusalOf(trx, account.id);
    if (refusal !== undefined) return refuse(refusal);
    const { id: accountId, name: accountName } = account;
    const into = { accountId, accountName, role };
    return inviteMember(trx, { email, of: into, author, now: clock.now() });
  });
}

async function isInUse(trx: Trx, account: AccountId): Promise<boolean> {
  return (await membersOf(trx, account)).length > 0 || (await tokensOf(trx, account)).length > 0;
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
