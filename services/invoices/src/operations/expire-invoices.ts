import { failpoint } from '@quittance/shared/failpoint';
import type { InvoiceId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { extensionMs, type Outage } from '../domain/expiry-extension.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { findCursor } from '../store/cursors.ts';
import { extendInvoices, lockExtendableInvoices } from '../store/expiry-extensions.ts';
import { expiringInvoices } from '../store/invoices.ts';
import type { ViewPorts } from '../views.ts';
import { recomputeInvoices } from './recompute-invoices.ts';

/** Invoices per transaction. */
const EXPIRED_BATCH = 100;
const EXTENDED_BATCH = 500;

type ExpiryPorts = Pick<Ports, 'db' | 'clock'> & ViewPorts;

/**
 * Closes invoices that expired before the time up to which all payments are known. Any replica may run it; each batch
 * locks its invoices.
 * @returns how many were closed
 */
export async function expireInvoices(
  ports: ExpiryPorts,
  { chain }: Pick<WatchedChain, 'chain'>,
): Promise<number> {
  // Asked first: joined to the cursor, the query reads all open invoices at each look.
  const cursor = await findCursor(ports.db, chain);
  if (cursor === undefined) return 0;
  const ids = await expiringInvoices(ports.db, chain, cursor, EXPIRED_BATCH);
  if (ids.length === 0) return 0;
  const closed = await ports.db.transaction((trx) => recomputeInvoices(trx, ids, ports));
  failpoint('invoices.expired');
  return closed;
}

/**
 * Extends the expiry of invoices by the time of an outage, in batches. After a crash the next run continues:
 * `extended_until` keeps an invoice from being extended twice.
 * @returns how many were extended
 */
export async function extendExpiry(
  ports: ExpiryPorts,
  chain: WatchedChain['chain'],
  lease: Lease,
  outage: Outage,
): Promise<number> {
  let extended = 0;
  let last: InvoiceId | null = null;
  do {
    const after: InvoiceId | null = last;
    last = await ports.db.transaction(async (trx) => {
      await assertLease(trx, lease);
      const stopped = await lockExtendableInvoices(trx, chain, outage, after, EXTENDED_BATCH);
      if (stopped.length === 0) return null;
      const longer = stopped.map((invoice) => ({ id: invoice.id, ms: extensionMs(invoice, outage) }));
      const paidTo = await extendInvoices(trx, longer, outage.until);
      await recomputeInvoices(trx, paidTo, ports);
      extended += longer.filter(({ ms }) => ms > 0).length;
      return stopped.length < EXTENDED_BATCH ? null : (stopped.at(-1)?.id ?? null);
    });
    failpoint('invoices.expiry_extended');
  } while (last !== null);
  return extended;
}
