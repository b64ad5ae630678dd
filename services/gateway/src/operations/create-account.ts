import { brokenConstraint } from '@quittance/shared/db';
import { newAccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { readName } from '../domain/name.ts';
import type { Ports } from '../ports.ts';
import { type Account, insertAccount } from '../store/tokens.ts';

export type AccountRefusal = 'name_invalid' | 'name_taken';

/**
 * Makes an account. Its name is unique, so that it can be called by it.
 * @param actor who does this, for the audit log
 */
export async function createAccount(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  { name, actor }: { name: string; actor: string },
): Promise<Result<Account, AccountRefusal>> {
  const proper = readName(name);
  // A name that looks like an id could be taken for another account's.
  if (proper === undefined || proper.startsWith('acc_')) return refuse('name_invalid');
  const now = clock.now();
  const account: Account = { id: newAccountId(now), name: proper, createdAt: now };
  try {
    await insertAccount(db, account, actor);
  } catch (error) {
    if (brokenConstraint(error) === 'accounts_name_unique') return refuse('name_taken');
    throw error;
  }
  return ok(account);
}
