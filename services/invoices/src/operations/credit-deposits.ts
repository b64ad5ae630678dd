import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import { invariant } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { lockInvoices } from '../store.ts';
import { markCredited } from '../store-deposits.ts';
import type { Shown } from '../views.ts';
import { bringUpToDate } from './bring-up-to-date.ts';

/** The ledger has booked deposits: whoever is told `paid` from now on finds the money in the balance. */
export async function creditDeposits(
  trx: Trx,
  credits: readonly EventOf<'credit.recorded'>[],
  ports: Pick<Ports, 'clock'> & Shown,
): Promise<void> {
  const deposits = new Set(credits.map(({ payload }) => payload.deposit_id as DepositId));
  const invoices = new Set(credits.map(({ payload }) => payload.invoice_id as InvoiceId));
  await lockInvoices(trx, invoices);
  const marked = await markCredited(trx, [...deposits], ports.clock.now());
  invariant(marked === deposits.size, 'the ledger books only deposits that were settled');
  crashPoint('invoices.credited');
  await bringUpToDate(trx, invoices, ports);
}
