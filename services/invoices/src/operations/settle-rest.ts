import type { Ports, WatchedChain } from '../ports.ts';
import { findCursor } from '../store-chain.ts';
import { invoicesLeftDue } from '../store-deposits.ts';
import type { Shown } from '../views.ts';
import { bringUpToDate } from './bring-up-to-date.ts';

/** Of so many invoices in one step, each in a transaction of its own: one with a million payments takes seconds. */
const INVOICES_AT_ONCE = 5;

/**
 * Goes on with invoices that have more deposits to settle than one step takes: a block brings up to date all that is due
 * at its height, so what is due after it was left.
 * @returns how many there were
 */
export async function settleRest(
  ports: Pick<Ports, 'db' | 'clock'> & Shown,
  { chain }: Pick<WatchedChain, 'chain'>,
): Promise<number> {
  const cursor = await findCursor(ports.db, chain);
  if (cursor === undefined) return 0;
  const left = await invoicesLeftDue(ports.db, chain, cursor.height, INVOICES_AT_ONCE);
  for (const id of left) await ports.db.transaction((trx) => bringUpToDate(trx, [id], ports));
  return left.length;
}
