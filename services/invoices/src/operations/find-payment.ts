import type { Ports } from '../ports.ts';
import type { FullInvoice } from '../store.ts';
import { isInvoiceId } from './get-invoice.ts';

/** What the payment page of an invoice shows, to whoever has its address. */
export async function findPayment(
  { findInvoice }: Pick<Ports, 'findInvoice'>,
  id: string,
): Promise<FullInvoice | undefined> {
  return isInvoiceId(id) ? await findInvoice(id) : undefined;
}
