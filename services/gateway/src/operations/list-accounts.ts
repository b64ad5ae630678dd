import type { Ports } from '../ports.ts';
import { type Account, allAccounts } from '../store/tokens.ts';

/** All accounts, oldest first. */
export function listAccounts({ db }: Pick<Ports, 'db'>): Promise<Account[]> {
  return allAccounts(db);
}
