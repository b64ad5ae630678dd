import type { InvoiceId } from '@quittance/shared/ids';
import type { Ports } from '../ports.ts';
import type { FoundInvoice } from '../store/invoice-reads.ts';
import { findUnchosen } from '../store/unchosen-invoices.ts';

/**
 * Finds an invoice before or after the choice. It may move between the first two reads: then the third finds it, because an
 * invoice moves once and only this way.
 */
export const findInvoice = async (
  { db, findInvoice }: Pick<Ports, 'db' | 'findInvoice'>,
  id: InvoiceId,
): Promise<FoundInvoice | undefined> =>
  (await findInvoice(id)) ?? (await findUnchosen(db, id)) ?? (await findInvoice(id));
