import { Unavailable } from '@quittance/shared/http';
import type { InvoiceId } from '@quittance/shared/ids';
import { invariant, ok, type Result } from '@quittance/shared/result';
import { type CancelRefusal, decideCancellation } from '../domain/cancellation.ts';
import type { Ports } from '../ports.ts';
import { lockInvoices, saveCancellation } from '../store/invoices.ts';
import { paymentTotals } from '../store/payments.ts';
import type { ViewPorts } from '../views.ts';
import { recomputeInvoices } from './recompute-invoices.ts';

/**
 * Cancels an invoice for which nothing was seen: it expires now. Under the lock that recording a payment takes, so that
 * either the payment is seen first, or it comes too late. Cancelling it again changes nothing. Throws Unavailable while its
 * chain was never read.
 */
export async function cancelInvoice(
  ports: Pick<Ports, 'db' | 'clock'> & ViewPorts,
  id: InvoiceId,
): Promise<Result<undefined, CancelRefusal>> {
  return await ports.db.transaction(async (trx) => {
    const [invoice] = await lockInvoices(trx, [id]);
    const totals = (await paymentTotals(trx, [id])).get(id);
    invariant(invoice !== undefined, 'an invoice is never deleted');
    if (totals === undefined) throw new Unavailable(`the chain ${invoice.chain} was never read`);
    const decided = decideCancellation(invoice, totals.paid, ports.clock.now());
    if (!decided.ok) return decided;
    if (decided.value !== undefined) {
      await saveCancellation(trx, id, decided.value);
      await recomputeInvoices(trx, [id], ports);
    }
    return ok(undefined);
  });
}
