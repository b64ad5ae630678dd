import { Unavailable } from '@quittance/shared/http';
import type { InvoiceId } from '@quittance/shared/ids';
import { appendToOutbox } from '@quittance/shared/outbox';
import { invariant, ok, type Result } from '@quittance/shared/result';
import { type CancelRefusal, decideCancellation } from '../domain/cancellation.ts';
import { decideUnchosenCancellation } from '../domain/unchosen-invoice.ts';
import type { Ports } from '../ports.ts';
import { lockInvoices, saveCancellation } from '../store/invoices.ts';
import { paymentTotals } from '../store/payments.ts';
import { lockUnchosen, saveUnchosenCancellation } from '../store/unchosen-invoices.ts';
import { payloadOf } from '../unchosen-views.ts';
import type { ViewPorts } from '../views.ts';
import { recomputeInvoices } from './recompute-invoices.ts';

/**
 * Cancels an invoice before the choice of its asset.
 * @returns undefined when there is none: its asset was chosen, and from then on payments decide
 */
async function cancelUnchosen(
  ports: Pick<Ports, 'db' | 'clock'> & ViewPorts,
  id: InvoiceId,
): Promise<Result<undefined, CancelRefusal> | undefined> {
  return await ports.db.transaction(async (trx) => {
    const invoice = await lockUnchosen(trx, id);
    if (invoice === undefined) return undefined;
    const now = ports.clock.now();
    const decided = decideUnchosenCancellation(invoice, now);
    if (!decided.ok) return decided;
    if (decided.value !== undefined) {
      const cancelled = await saveUnchosenCancellation(trx, id, decided.value);
      await appendToOutbox(
        trx,
        [{ kind: 'invoice.expired', payload: payloadOf(cancelled, ports) }],
        null,
        now,
      );
    }
    return ok(undefined);
  });
}

/**
 * Cancels an invoice for which nothing was seen: it expires now. Under the lock that recording a payment takes, so that
 * either the payment is seen first, or it comes too late. Cancelling it again changes nothing. Throws Unavailable while its
 * chain was never read.
 */
export async function cancelInvoice(
  ports: Pick<Ports, 'db' | 'clock'> & ViewPorts,
  id: InvoiceId,
): Promise<Result<undefined, CancelRefusal>> {
  const before = await cancelUnchosen(ports, id);
  if (before !== undefined) return before;
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
