import type { Invoice, QuittanceEvent } from '@quittance/client';
import { quittance } from '../../client.ts';
import { useAllowed, useRead } from '../../parts/reading.ts';
import { REFRESH_MS } from '../../queries.ts';
import { timelineEvents } from './timeline.ts';

/** Confirmations are no events: an invoice that waits for some is read more often. */
const WAITING_MS = 5_000;
const EVENTS_MAX = 500;
/** Events that an end has come after it. */
const AFTER_END_MS = 600_000;

const isSettled = ({ status, pending_amount }: Invoice): boolean =>
  (status === 'paid' || status === 'expired') && pending_amount === '0';

export const useInvoice = (id: string) =>
  useRead(['invoices', id], (options) => quittance.invoices.retrieve(id, options), {
    refetchInterval: ({ state: { data } }) =>
      data === undefined || isSettled(data) ? REFRESH_MS : WAITING_MS,
  });

/** What the other services know of an invoice, as far as the reader's role may know it. */
export function useInvoiceRecords(invoice: Invoice) {
  const { id } = invoice;
  const of = { invoice_id: id };
  const refunds = useAllowed('refunds:read', ['refunds', of], (options) =>
    Array.fromAsync(quittance.refunds.list(of, options)),
  );
  const payouts = useAllowed('payouts:read', ['payouts', of], (options) =>
    Array.fromAsync(quittance.payouts.list(of, options)),
  );
  const unresolved = useAllowed('unresolved:read', ['unresolved', of], (options) =>
    Array.fromAsync(quittance.unresolved.list(of, options)),
  );
  const transactions = useAllowed('balances:read', ['balance-transactions', { source: id }], (options) =>
    Array.fromAsync(quittance.balanceTransactions.list({ source: id }, options)),
  );
  const events = useAllowed('events:read', ['events', { invoice: id, until: endOf(invoice) }], (options) =>
    eventsOf(invoice, options),
  );
  return {
    records: {
      invoice,
      refunds: refunds.data,
      payouts: payouts.data,
      unresolved: unresolved.data,
      transactions: transactions.data,
      events: events.data?.found,
    },
    /** More happened in its time than was looked through. */
    isCut: events.data?.isCut ?? false,
    errors: [refunds, payouts, unresolved, transactions, events].flatMap(({ error }) =>
      error === null ? [] : [error],
    ),
  };
}

/** When nothing more is expected; undefined while it is. */
const endOf = ({ status, paid_at, expires_at }: Invoice): string | undefined =>
  (status === 'paid' ? paid_at : status === 'expired' ? expires_at : null) ?? undefined;

/** The log has no filter by invoice: what happened in the account in the invoice's time is looked through for its id. */
async function eventsOf(invoice: Invoice, options: { signal: AbortSignal }) {
  const end = endOf(invoice);
  const { data, has_more } = await quittance.events.list(
    {
      kinds: timelineEvents,
      created_from: invoice.created_at,
      limit: EVENTS_MAX,
      ...(end === undefined ? {} : { created_to: new Date(Date.parse(end) + AFTER_END_MS) }),
    },
    options,
  );
  return { found: data.filter((event) => isAbout(event, invoice.id)), isCut: has_more };
}

function isAbout({ data }: QuittanceEvent, id: string): boolean {
  return ('id' in data && data.id === id) || ('invoice_id' in data && data.invoice_id === id);
}
