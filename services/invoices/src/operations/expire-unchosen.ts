import { appendToOutbox } from '@quittance/shared/outbox';
import type { Ports } from '../ports.ts';
import { expireUnchosenInvoices } from '../store/unchosen-invoices.ts';
import { payloadOf } from '../unchosen-views.ts';

/** Invoices per transaction. */
const BATCH = 100;

/**
 * Ends invoices whose asset was not chosen in time. No payment can be on its way, so the clock alone decides. Any replica may
 * run it; of an expiry and a choice at the same moment one finds no row.
 * @returns how many were ended
 */
export const expireUnchosen = (ports: Pick<Ports, 'db' | 'clock' | 'settings'>): Promise<number> =>
  ports.db.transaction(async (trx) => {
    const now = ports.clock.now();
    const expired = await expireUnchosenInvoices(trx, now, BATCH);
    const events = expired.map((invoice) => ({
      kind: 'invoice.expired' as const,
      payload: payloadOf(invoice, ports),
    }));
    await appendToOutbox(trx, events, null, now);
    return expired.length;
  });
