import type { Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, type Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import type { ExtendableInvoice, Outage, SyncState } from '../domain/expiry-extension.ts';

const selectSyncState = query<SyncState>(
  'cursors_sync_state',
  `select synced_at, known_until,
     (select min(b.time) from blocks b where b.chain = c.chain and b.time > c.known_until) as next_block_at
   from cursors c where chain = $1`,
);

/** The last sync of the chain. */
export const syncStateOf = (db: Queryable, chain: Chain): Promise<SyncState> =>
  db.one(selectSyncState, [chain]);

type LockedInvoice = ExtendableInvoice & { id: InvoiceId };

const lockExtendable = query<LockedInvoice>(
  'invoices_lock_extendable',
  `select id, created_at, expires_at, extended_ms::float8 as extended_ms, extended_until
   from invoices
   where chain = $1 and closed_at is null and status in ('pending', 'partially_paid', 'confirmed')
     and expires_at >= coalesce($2::timestamptz, '-infinity') and created_at < $3
     and (extended_until is null or extended_until < $3) and id > coalesce($4::text, '')
   order by id limit $5 for update`,
);

/** Locks open invoices for which an outage was not counted yet, in the order of their ids. */
export const lockExtendableInvoices = (
  trx: Trx,
  chain: Chain,
  outage: Outage,
  after: InvoiceId | null,
  limit: number,
): Promise<LockedInvoice[]> => trx.rows(lockExtendable, [chain, outage.from, outage.until, after, limit]);

const extensions = bulk({ id: 'text', ms: 'bigint' });

const updateExpiry = query<{ id: InvoiceId; isPaidTo: boolean }>(
  'invoices_extend',
  `update invoices i set
     expires_at = i.expires_at + u.ms * interval '1 millisecond', extended_ms = i.extended_ms + u.ms,
     extended_until = $3, version = i.version + (u.ms > 0)::int
   from ${extensions.from('u')} where i.id = u.id
   returning i.id,
     exists (select 1 from deposits d where d.invoice_id = i.id)
     or exists (select 1 from mempool_payments s where s.invoice_id = i.id) as is_paid_to`,
);

/** Saves the extensions. @returns the invoices with payments, which may be in time now */
export async function extendInvoices(
  trx: Trx,
  extended: readonly { id: InvoiceId; ms: number }[],
  until: Date,
): Promise<InvoiceId[]> {
  const rows = await trx.rows(updateExpiry, [...extensions.values(extended), until]);
  return rows.filter(({ isPaidTo }) => isPaidTo).map(({ id }) => id);
}
