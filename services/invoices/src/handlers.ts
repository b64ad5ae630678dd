import { failpoint } from '@quittance/shared/failpoint';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import type { HandlersOf } from '@quittance/shared/process-messages';
import { invariant } from '@quittance/shared/result';
import { recomputeInvoices } from './operations/recompute-invoices.ts';
import type { Ports } from './ports.ts';
import { markCredited } from './store/deposits.ts';
import { lockInvoices } from './store/invoices.ts';
import { saveRefunds } from './store/refunds.ts';
import type { ViewPorts } from './views.ts';

/** What invoices does with events. */
export const handlers: HandlersOf<'invoices', Pick<Ports, 'clock'> & ViewPorts> = {
  /** The ledger has credited these deposits: when `invoice.paid` is sent, the money is in the balance. */
  async 'credit.recorded'(trx, events, ports) {
    const deposits = new Set(events.map(({ payload }) => payload.deposit_id as DepositId));
    const invoices = new Set(events.map(({ payload }) => payload.invoice_id as InvoiceId));
    await lockInvoices(trx, invoices);
    const marked = await markCredited(trx, [...deposits], ports.clock.now());
    invariant(marked === deposits.size, 'the ledger books only deposits that were settled');
    failpoint('invoices.credited');
    await recomputeInvoices(trx, invoices, ports);
  },
  /** A refund changes what an invoice shows, and not its status. */
  'refund.updated': (trx, events) =>
    saveRefunds(
      trx,
      events.map(({ payload }) => payload),
    ),
};
