import type { Ports } from '../ports.ts';
import { type FullInvoice, findInvoice } from '../store.ts';
import { isInvoiceId } from './get-invoice.ts';

/** What the payment page of an invoice shows, to whoever has its address. */
export async function findPayment({ db }: Pick<Ports, 'db'>, id: string): Promise<FullInvoice | undefined> {
  return isInvoiceId(id) ? await findInvoice(db, id) : undefined;
}
