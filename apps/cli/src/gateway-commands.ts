import {
  createAccount,
  createToken,
  limitAccount,
  listAccounts,
  listTokens,
  revokeToken,
} from '@quittance/gateway/operations/accounts';
import { type Clock, systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { actor } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { gatewayDatabase } from './settings.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

const DAY_MS = 24 * 3_600_000;

const nameRule = 'a name has 1 to 255 characters, in one line, and does not begin with "acc_"';
const noSuchAccount = (account: string) =>
  `There is no account ${JSON.stringify(account)}. \`quittance account list\` shows those there are.`;

type Ports = { db: Db; clock: Clock; actor: string };

async function withGateway(
  around: Surroundings,
  work: (ports: Ports) => Promise<SaidOutcome>,
): Promise<SaidOutcome> {
  const url = gatewayDatabase(around);
  const db = openDb({ url, schema: 'gateway', pool: 1, logger: createLogger('cli', 'silent') });
  try {
    return await work({ db, clock: systemClock, actor: actor(around) });
  } finally {
    await db.close();
  }
}

export const accountCreate = (around: Surroundings, name: string): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const made = await createAccount(ports, { name, actor: ports.actor });
    if (!made.ok) {
      throw new CommandError(
        made.refusal === 'name_taken'
          ? `There is an account ${JSON.stringify(name)} already.`
          : `${JSON.stringify(name)} cannot be an account's name: ${nameRule}.`,
      );
    }
    const { id } = made.value;
    return {
      json: accountJson(made.value),
      text: say`Account ${JSON.stringify(made.value.name)} created: ${id}\n
Next, a token for its server:\n  npx quittance token create ${id} --name "server"\n`,
    };
  });

type Account = Awaited<ReturnType<typeof listAccounts>>[number];

const accountJson = ({ id, name, createdAt, requestsPerMinute }: Account) => ({
  id,
  name,
  created_at: createdAt,
  requests_per_minute: requestsPerMinute,
});

export const accountLimit = (
  around: Surroundings,
  account: string,
  requestsPerMinute: number | null,
): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const limited = await limitAccount(ports, { account, requestsPerMinute, actor: ports.actor });
    if (!limited.ok) throw new CommandError(noSuchAccount(account));
    const { name } = limited.value;
    return {
      json: accountJson(limited.value),
      text: say`Each token of the account ${JSON.stringify(name)} may send ${
        requestsPerMinute === null
          ? 'as many requests a minute as RATE_LIMIT_PER_MINUTE says'
          : say`${requestsPerMinute} requests a minute`
      }. All gateways apply it within a minute.\n`,
    };
  });

export const accountList = (around: Surroundings): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const accounts = await listAccounts(ports);
    return {
      json: accounts.map(accountJson),
      text:
        accounts.length === 0
          ? say`No accounts yet. Make one:\n  npx quittance account create "My shop"\n`
          : table(
              ['ID', 'NAME', 'CREATED', 'REQUESTS A MINUTE'],
              accounts.map(({ id, name, createdAt, requestsPerMinute }) => [
                id,
                name,
                minute(createdAt),
                String(requestsPerMinute ?? 'default'),
              ]),
            ),
    };
  });

export type TokenOptions = { name: string; expiresInDays?: number };

export const tokenCreate = (
  around: Surroundings,
  account: string,
  options: TokenOptions,
): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const { name, expiresInDays } = options;
    const expiresAt =
      expiresInDays === undefined ? null : new Date(ports.clock.now().getTime() + expiresInDays * DAY_MS);
    const made = await createToken(ports, { account, name, expiresAt, actor: ports.actor });
    if (!made.ok) {
      const why = {
        no_such_account: noSuchAccount(account),
        name_invalid: `${JSON.stringify(name)} cannot be a token's name: 1 to 255 characters, in one line.`,
        expires_in_the_past: 'A token cannot expire in the past: --expires-in-days must be at least 1.',
      };
      throw new CommandError(why[made.refusal]);
    }
    const { id, token, accountId, accountName, hint, createdAt } = made.value;
    return {
      json: {
        id,
        token,
        account_id: accountId,
        account: accountName,
        name: made.value.name,
        hint,
        created_at: createdAt,
        expires_at: expiresAt,
      },
      text: say`Token ${JSON.stringify(made.value.name)} for the account ${JSON.stringify(accountName)} created: ${id}\n
  ${token}\n
Copy it now: it is stored nowhere and will not be shown again.
It is sent with every request as  Authorization: Bearer qt_…${hint}
${
  expiresAt === null
    ? say`It is good until you revoke it:  npx quittance token revoke ${id}`
    : say`It expires at ${minute(expiresAt)}.`
}\n`,
    };
  });

export const tokenList = (around: Surroundings, account: string | undefined): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const listed = await listTokens(ports, account);
    if (!listed.ok) throw new CommandError(noSuchAccount(account ?? ''));
    const tokens = listed.value;
    return {
      json: tokens.map((token) => ({
        id: token.id,
        account_id: token.accountId,
        account: token.accountName,
        name: token.name,
        hint: token.hint,
        state: token.state,
        created_at: token.createdAt,
        last_used_at: token.lastUsedAt,
        expires_at: token.expiresAt,
        revoked_at: token.revokedAt,
      })),
      text:
        tokens.length === 0
          ? say`No tokens yet. Make one:\n  npx quittance token create ACCOUNT --name "server"\n`
          : table(
              ['ID', 'ACCOUNT', 'NAME', 'ENDS IN', 'CREATED', 'LAST USED', 'STATE'],
              tokens.map((token) => [
                token.id,
                token.accountName,
                token.name,
                token.hint,
                minute(token.createdAt),
                minute(token.lastUsedAt),
                stateOf(token),
              ]),
            ),
    };
  });

function stateOf(token: { state: string; expiresAt: Date | null; revokedAt: Date | null }): string {
  if (token.state === 'revoked') return `revoked ${minute(token.revokedAt)}`;
  if (token.expiresAt === null) return token.state;
  return token.state === 'expired'
    ? `expired ${minute(token.expiresAt)}`
    : `active until ${minute(token.expiresAt)}`;
}

export const tokenRevoke = (around: Surroundings, id: string): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const revoked = await revokeToken(ports, { id, actor: ports.actor });
    if (!revoked.ok) {
      throw new CommandError(
        `There is no token ${JSON.stringify(id)}. \`quittance token list\` shows the ids; the token itself is no id.`,
      );
    }
    const { name, accountName, revokedAt } = revoked.value;
    return {
      json: { id, account: accountName, name, revoked_at: revokedAt },
      text: say`Token ${JSON.stringify(name)} of the account ${JSON.stringify(accountName)} is revoked since ${minute(revokedAt)}: it is refused from now on.\n`,
    };
  });
