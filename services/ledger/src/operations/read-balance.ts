import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import type { AccountId } from '@quittance/shared/ids';
import type { Ports } from '../ports.ts';
import { availableOf } from '../store/quotes.ts';

/** What an account can spend of an asset at this moment. It is no promise: only a hold is. */
export async function readBalance(
  { db }: Pick<Ports, 'db'>,
  { account_id: account, asset }: RequestOf<'balance.read'>,
): Promise<ReplyOf<'balance.read'>> {
  return { available: (await availableOf(db, account as AccountId, asset)).toString() };
}
