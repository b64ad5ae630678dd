import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import type { AccountId } from '@quittance/shared/ids';
import type { Ports } from '../ports.ts';
import { availableOf } from '../store/quotes.ts';
import { acceptedOf } from '../store/suspense.ts';

/** What an account can spend of an asset at this moment. It is no promise: only a hold is. */
export async function readBalance(
  { db }: Pick<Ports, 'db'>,
  { account_id: account, asset }: RequestOf<'balance.read'>,
): Promise<ReplyOf<'balance.read'>> {
  return { available: (await availableOf(db, account as AccountId, asset)).toString() };
}

/** What of an invoice's unresolved deposits was accepted, and not taken back by the chain since. */
export async function readAccepted(
  { db }: Pick<Ports, 'db'>,
  { account_id: account, asset, invoice_id: invoice }: RequestOf<'accepted.read'>,
): Promise<ReplyOf<'accepted.read'>> {
  return { amount: (await acceptedOf(db, { account: account as AccountId, asset, invoice })).toString() };
}
