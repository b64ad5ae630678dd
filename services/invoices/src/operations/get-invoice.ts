import type { AccountId, InvoiceId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { type InvoiceView, invoiceView, type Shown } from '../views.ts';

export type GetRefusal = 'unknown' | 'foreign';

/** One invoice of the caller, in full. */
export async function getInvoice(
  ports: Pick<Ports, 'findInvoice'> & Shown,
  account: AccountId,
  id: string,
): Promise<Result<InvoiceView, GetRefusal>> {
  const found = isInvoiceId(id) ? await ports.findInvoice(id) : undefined;
  if (found === undefined) return refuse('unknown');
  if (found.invoice.account !== account) return refuse('foreign');
  return ok(invoiceView(found, ports));
}

/** Anything else is nobody's invoice, and need not be asked for. */
export const isInvoiceId = (text: string): text is InvoiceId => /^inv_[0-9a-z]{36}$/.test(text);
