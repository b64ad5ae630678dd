import { createAccount, limitAccount, listAccounts } from '@quittance/gateway/operations/accounts';
import { type Clock, systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { gatewayDatabase } from './database-settings.ts';
import { actor, source } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

const nameRule = 'a name has 1 to 255 characters, in one line, and does not begin with "acc_"';
export const noSuchAccount = (account: string) =>
  `There is no account ${JSON.stringify(account)}. \`quittance account list\` shows those there are.`;

type Ports = { db: Db; clock: Clock; author: { actor: string; source: string } };

export async function withGateway(
  around: Surroundings,
  work: (ports: Ports) => Promise<SaidOutcome>,
): Promise<SaidOutcome> {
  const url = gatewayDatabase(around);
  const db = openDb({ url, schema: 'gateway', pool: 1, logger: createLogger('cli', 'silent') });
  try {
    return await work({ db, clock: systemClock, author: { actor: actor(around), source: source() } });
  } finally {
    await db.close();
  }
}

export const accountCreate = (around: Surroundings, name: string): Promise<SaidOutcome> =>
  withGateway(around, async (ports) => {
    const made = await createAccount(ports, { name, ...ports.author });
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
    const limited = await limitAccount(ports, { account, requestsPerMinute, ...ports.author });
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
