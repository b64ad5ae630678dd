import {
  inviteAsOperator,
  listAsOperator,
  removeAsOperator,
  resetAsOperator,
} from '@quittance/gateway/operations/operators-people';
import { noSuchAccount, withGateway } from './gateway-commands.ts';
import { actor, withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import type { Role } from './read-options.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

/* People who sign in: the first owner of an account, and people who have lost their password. */

type Invited = Extract<Awaited<ReturnType<typeof inviteAsOperator>>, { ok: true }>['value'];

const invitedJson = ({ id, email, role, accountId, expiresAt, token }: Invited) => ({
  id,
  email,
  role,
  account_id: accountId,
  expires_at: expiresAt,
  token,
});

const shown = ({ token, expiresAt }: Invited) => say`
  ${token}\n
Pass it on now: it is stored nowhere and will not be shown again. It is good once, until ${minute(expiresAt)}.
Whoever has it sets the password at  PUBLIC_URL/dashboard/#invitation=${token}\n`;

const noSuchPerson = (email: string) =>
  `There is no person ${JSON.stringify(email)}. \`quittance people list\` shows those there are.`;

export const peopleInvite = (
  around: Surroundings,
  { account, email, role }: { account: string; email: string; role: Role },
): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const invited = await inviteAsOperator(ports, { account, email, role, ...ports.author });
    if (!invited.ok) {
      const why = {
        no_such_account: noSuchAccount(account),
        email_invalid: `${JSON.stringify(email)} is no e-mail address.`,
        member_already: `The account has ${JSON.stringify(email)} already.`,
      };
      throw new CommandError(why[invited.refusal]);
    }
    return {
      json: invitedJson(invited.value),
      text: say`${invited.value.email} may become ${role} of the account ${JSON.stringify(invited.value.accountName)}:
${shown(invited.value)}`,
    };
  });

export const peopleList = (around: Surroundings, account: string | undefined): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const listed = await listAsOperator(ports, account);
    if (!listed.ok) throw new CommandError(noSuchAccount(account ?? ''));
    const people = listed.value;
    return {
      json: people.map((one) => ({
        id: one.id,
        email: one.email,
        name: one.name,
        account_id: one.accountId,
        account: one.accountName,
        role: one.role,
        joined_at: one.joinedAt,
        last_sign_in_at: one.lastSignInAt,
      })),
      text:
        people.length === 0
          ? say`No people yet. Invite the first:\n  npx quittance people invite --account ACCOUNT --email EMAIL --role owner\n`
          : table(
              ['EMAIL', 'NAME', 'ACCOUNT', 'ROLE', 'JOINED', 'LAST SIGN-IN'],
              people.map((one) => [
                one.email,
                one.name,
                one.accountName,
                one.role,
                minute(one.joinedAt),
                minute(one.lastSignInAt),
              ]),
            ),
    };
  });

export const peopleRemove = (
  around: Surroundings,
  { account, email }: { account: string; email: string },
): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const removed = await removeAsOperator(ports, { account, email, ...ports.author });
    if (!removed.ok)
      throw new CommandError(
        removed.refusal === 'no_such_account' ? noSuchAccount(account) : noSuchPerson(email),
      );
    const { id, accountName } = removed.value;
    return {
      json: { id, email: removed.value.email, account: accountName },
      text: say`${removed.value.email} is no longer in the account ${JSON.stringify(accountName)}. Sessions there have ended; API tokens stay.\n`,
    };
  });

export const peopleReset = (around: Surroundings, { email }: { email: string }): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const reset = await resetAsOperator(ports, { email, ...ports.author });
    if (!reset.ok) throw new CommandError(noSuchPerson(email));
    return {
      json: invitedJson(reset.value),
      text: say`${reset.value.email} cannot sign in until a new password is set. All sessions have ended.
${shown(reset.value)}`,
    };
  });

/** Makes somebody who signs in an operator of the dashboard, or takes that away. */
export async function peopleOperator(
  around: Surroundings,
  email: string,
  { grant = false, revoke = false, account }: { grant?: boolean; revoke?: boolean; account?: string },
): Promise<SaidOutcome> {
  if (grant === revoke) throw new CommandError('Say --grant or --revoke.');
  if (grant && account === undefined)
    throw new CommandError(
      'Say --account: one that the person is in. Somebody else may have been invited with this address into another one.',
    );
  const address = email.normalize('NFKC').trim().toLowerCase();
  return await withOperator(around, 'operator', async (db) => {
    const { before } = await db.one<{ before: boolean | null }>(
      'select operator.set_operator($1, $2, $3, $4) as before',
      [address, account ?? null, grant, actor(around)],
    );
    if (before === null)
      throw new CommandError(
        grant
          ? `There is nobody with the address ${JSON.stringify(email)} in the account ${JSON.stringify(account)}.`
          : noSuchPerson(email),
      );
    return {
      json: { email: address, operator: grant, changed: before !== grant },
      text: grant
        ? say`${address} ${before ? 'is' : 'is now'} an operator: the dashboard has the pages of operators. Have a passkey or a second factor set up there.\n`
        : say`${address} is ${before ? 'no longer' : 'not'} an operator. That counts from the next request on.\n`,
    };
  });
}
