import { failpoint } from '@quittance/shared/failpoint';
import type { InvoiceId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { extensionMs, type Outage } from '../domain/expiry-extension.ts';
import type { WatchedChain } from '../ports.ts';
import { extendInvoices, lockExtendableInvoices } from '../store/expiry-extensions.ts';
import type { BlockPorts } from './apply-blocks.ts';
import { recomputeInvoices } from './recompute-invoices.ts';

/** Invoices per transaction. */
const BATCH = 500;

/**
 * Extends the expiry of invoices by the time of an outage, in batches. After a crash the next run continues:
 * `extended_until` keeps an invoice from being extended twice.
 * @returns how many were extended
 */
export async function extendExpiry(
  ports: BlockPorts,
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
      const stopped = await lockExtendableInvoices(trx, chain, outage, after, BATCH);
      if (stopped.length === 0) return null;
      const longer = stopped.map((invoice) => ({ id: invoice.id, ms: extensionMs(invoice, outage) }));
      const paidTo = await extendInvoices(trx, longer, outage.until);
      await recomputeInvoices(trx, paidTo, ports);
      extended += longer.filter(({ ms }) => ms > 0).length;
      return stopped.length < BATCH ? null : (stopped.at(-1)?.id ?? null);
    });
    failpoint('invoices.expiry_extended');
  } while (last !== null);
  return extended;
}
