import type { Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import type { ExtendableInvoice, Outage, SyncState } from '../domain/expiry-extension.ts';

const selectSyncState = statement(
  'cursors_sight',
  `select caught_up_at as "reachedAt", known_until as "knownUntil",
     (select min(b.time) from blocks b where b.chain = c.chain and b.time > c.known_until) as "nextBlockAt"
   from cursors c where chain = $1`,
);

/** The last sync of the chain. */
export async function syncStateOf(db: Queryable, chain: Chain): Promise<SyncState> {
  return await db.one<SyncState>(selectSyncState, [chain]);
}

const lockExtendable = statement(
  'invoices_lock_stopped',
  `select id, created_at as "createdAt", expires_at as "expiresAt", extended_ms::float8 as "extendedMs",
     clock_until as "clockUntil"
   from invoices
   where chain = $1 and closed_at is null and status in ('pending', 'partially_paid', 'confirmed')
     and expires_at >= coalesce($2::timestamptz, '-infinity') and created_at < $3
     and (clock_until is null or clock_until < $3) and id > coalesce($4::text, '')
   order by id limit $5 for update`,
);

/** Locks open invoices for which an outage was not counted yet, in the order of their ids. */
export async function lockExtendableInvoices(
  trx: Trx,
  chain: Chain,
  outage: Outage,
  after: InvoiceId | null,
  limit: number,
): Promise<(ExtendableInvoice & { id: InvoiceId })[]> {
  return await trx.rows(lockExtendable, [chain, outage.from, outage.until, after, limit]);
}

const updateExpiry = statement(
  'invoices_extend',
  `update invoices i set
     expires_at = i.expires_at + u.ms * interval '1 millisecond', extended_ms = i.extended_ms + u.ms,
     clock_until = $3, version = i.version + (u.ms > 0)::int
   from unnest($1::text[], $2::bigint[]) as u(id, ms)
   where i.id = u.id
   returning i.id,
     exists (select 1 from deposits d where d.invoice_id = i.id)
     or exists (select 1 from sightings s where s.invoice_id = i.id) as "isPaidTo"`,
);

/** Saves the extensions. @returns the invoices with payments, which may be in time now */
export async function extendInvoices(
  trx: Trx,
  extended: readonly { id: InvoiceId; ms: number }[],
  until: Date,
): Promise<InvoiceId[]> {
  const rows = await trx.rows<{ id: InvoiceId; isPaidTo: boolean }>(updateExpiry, [
    extended.map(({ id }) => id),
    extended.map(({ ms }) => ms),
    until,
  ]);
  return rows.filter(({ isPaidTo }) => isPaidTo).map(({ id }) => id);
}
