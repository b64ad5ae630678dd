import { type Db, openDb } from '@quittance/shared/db';
import { type AccountId, newAccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { serviceUrl } from '@quittance/shared/migrate';
import type { Quittance } from '@quittance/testkit/quittance';

const RICH = 10n ** 30n;

/** Gives accounts more Ether than they can spend, as balances alone: no deposit has brought it. */
export async function fundAccounts({ db }: Quittance, accounts: readonly string[]): Promise<void> {
  await db.rows(
    `insert into ledger.balances (account_id, asset, available) select id, 'ETH', $2::numeric from unnest($1::text[]) as id`,
    [accounts, RICH.toString()],
  );
}

/** New accounts of the ledger, funded. */
export async function fundedAccounts(quittance: Quittance, count: number): Promise<AccountId[]> {
  const accounts = Array.from({ length: count }, () => newAccountId(new Date()));
  await fundAccounts(quittance, accounts);
  return accounts;
}

/** A pool of connections like a service's own. */
export const openServiceDb = (
  { stack }: Quittance,
  service: 'ledger' | 'invoices' | 'webhooks',
  pool: number,
  settings: Record<string, string> = {},
): Db =>
  openDb({
    url: serviceUrl(stack.adminUrl, service, stack.secrets.databasePassword),
    schema: service,
    pool,
    logger: createLogger('bench', 'error'),
    settings,
  });
