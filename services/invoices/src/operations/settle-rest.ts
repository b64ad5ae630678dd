import type { Ports, WatchedChain } from '../ports.ts';
import { findCursor } from '../store-chain.ts';
import { invoicesDue } from '../store-deposits.ts';
import type { Shown } from '../views.ts';
import { bringUpToDate } from './bring-up-to-date.ts';

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
  const due = cursor === undefined ? [] : await invoicesDue(ports.db, chain, cursor.height);
  if (due.length > 0) await ports.db.transaction((trx) => bringUpToDate(trx, due, ports));
  return due.length;
}
