import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import type { HandlersOf } from '@quittance/shared/process-messages';
import { invariant } from '@quittance/shared/result';
import { recomputeInvoices } from './operations/recompute-invoices.ts';
import type { Ports } from './ports.ts';
import { markCredited } from './store/deposits.ts';
import { lockInvoices } from './store/invoices.ts';
import type { ViewPorts } from './views.ts';

/** What invoices does with events. */
export const handlers: HandlersOf<'invoices', Pick<Ports, 'clock'> & ViewPorts> = {
  'credit.recorded': creditDeposits,
};

/** The ledger has credited these deposits: when `invoice.paid` is sent, the money is in the balance. */
async function creditDeposits(
  trx: Trx,
  credits: readonly EventOf<'credit.recorded'>[],
  ports: Pick<Ports, 'clock'> & ViewPorts,
): Promise<void> {
  const deposits = new Set(credits.map(({ payload }) => payload.deposit_id as DepositId));
  const invoices = new Set(credits.map(({ payload }) => payload.invoice_id as InvoiceId));
  await lockInvoices(trx, invoices);
  const marked = await markCredited(trx, [...deposits], ports.clock.now());
  invariant(marked === deposits.size, 'the ledger books only deposits that were settled');
  failpoint('invoices.credited');
  await recomputeInvoices(trx, invoices, ports);
}
