import { failpoint } from '@quittance/shared/failpoint';
import type { Ports, WatchedChain } from '../ports.ts';
import { findCursor } from '../store/cursors.ts';
import { expiringInvoices } from '../store/invoices.ts';
import type { ViewPorts } from '../views.ts';
import { recomputeInvoices } from './recompute-invoices.ts';

const BATCH = 100;

/**
 * Closes invoices that expired before the time up to which all payments are known. Any replica may run it; each batch
 * locks its invoices.
 * @returns how many were closed
 */
export async function expireInvoices(
  ports: Pick<Ports, 'db' | 'clock'> & ViewPorts,
  { chain }: Pick<WatchedChain, 'chain'>,
): Promise<number> {
  const cursor = await findCursor(ports.db, chain);
  if (cursor === undefined) return 0;
  const ids = await expiringInvoices(ports.db, chain, cursor, BATCH);
  if (ids.length === 0) return 0;
  const closed = await ports.db.transaction((trx) => recomputeInvoices(trx, ids, ports));
  failpoint('invoices.expired');
  return closed;
}
