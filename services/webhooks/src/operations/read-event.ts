import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { LoggedEvent } from '../domain/envelope.ts';
import type { Ports } from '../ports.ts';
import { findEvent } from '../store-events.ts';

/** One event, if it is there and the account's own. */
export async function readEvent(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
): Promise<Result<LoggedEvent, 'unknown' | 'not_yours'>> {
  const event = await findEvent(db, id);
  if (event === undefined) return refuse('unknown');
  return event.accountId === account ? ok(event) : refuse('not_yours');
}
