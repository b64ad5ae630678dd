import type { Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { EventKind } from '@quittance/shared/events';
import type { IdempotencyKey } from '@quittance/shared/idempotency';
import type { EventId, InvoiceId } from '@quittance/shared/ids';
import { formatRate, parseRate } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { Cancellation } from '../domain/cancellation.ts';
import type { Invoice, Progress } from '../domain/invoice.ts';
import { AWAITED_AFTER_DROP_MS } from '../domain/mempool-payment.ts';
import { CHOSEN_VERSION } from '../domain/unchosen-invoice.ts';

/** Columns that are stored as the invoice has them. */
const plainColumns = `id, external_id, asset, chain, amount_fiat, quote, amount_due, tolerance_bps, min_confirmations,
  dust, created_at, expires_at, succeed_url, timeout_url, address, derivation_index, description, metadata,
  currency, fiat_rate, payment_link_id`;

export const invoiceColumns = `${plainColumns}, account_id as account, usd_rate::text as usd_rate, status,
  pending_amount, paid_amount, reversed_amount, paid_at, closed_at, cancelled_at, version, reported_events`;

/** Rates have decimals, so the driver leaves them text. */
export type InvoiceRow = Omit<Invoice, 'usdRate'> & { usdRate: string };

export function toInvoice(row: InvoiceRow): Invoice {
  const rate = parseRate(row.usdRate);
  invariant(rate.ok, 'a stored rate is valid');
  return { ...row, usdRate: rate.value };
}

/** A new invoice with its event, saved together. */
export type NewInvoice = {
  invoice: Invoice;
  event: { id: EventId; payload: object; requestId: string };
  /** Contracts may send native money to its address, so its balance is checked. */
  watchBalance: boolean;
  /** When it was given its address. Default: when it was created. */
  addressGivenAt?: Date;
};

const newInvoices = bulk({
  id: 'text',
  account: 'account_id text',
  externalId: 'text',
  asset: 'text',
  chain: 'text',
  amountFiat: 'numeric',
  usdRate: 'numeric',
  quote: 'jsonb',
  amountDue: 'numeric',
  toleranceBps: 'int',
  minConfirmations: 'int',
  dust: 'numeric',
  createdAt: 'timestamptz',
  expiresAt: 'timestamptz',
  succeedUrl: 'text',
  timeoutUrl: 'text',
  address: 'text',
  derivationIndex: 'int',
  description: 'text',
  metadata: 'json',
  currency: 'text',
  fiatRate: 'jsonb',
  paymentLinkId: 'text',
  balanceCheckAt: 'timestamptz',
  eventId: 'text',
  payload: 'jsonb',
  requestId: 'text',
});

/** How an invoice begins, as SQL. */
type Beginning = { event: EventKind; version: number; extendedUntil: string };
const atCreation: Beginning = { event: 'invoice.created', version: 1, extendedUntil: 'null' };

/** Inserts invoices with their addresses and events in one statement, and what `beside` inserts. */
const insertNew = (from: string, beside = '', { event, version, extendedUntil } = atCreation): string => `
  with given as (select * from ${from}),
  invoice as (
    insert into invoices (account_id, usd_rate, ${plainColumns}, reported_events, version, extended_until)
    select account_id, usd_rate, ${plainColumns}, '{invoice.created}', ${version}, ${extendedUntil} from given),
  address as (
    insert into addresses (chain, address, invoice_id, derivation_index, given_height, balance_check_at)
    select chain, address, id, derivation_index,
      (select height from cursors where cursors.chain = given.chain), balance_check_at
    from given)${beside}
  insert into outbox (id, kind, payload, request_id)
  select event_id, '${event}', payload, request_id from given`;

const insertInvoice = statement('invoices_insert', insertNew(newInvoices.fromOne('given')));
const insertInvoices = statement('invoices_insert_several', insertNew(newInvoices.from('given')));
/** The first parameter after those of an invoice. */
const next = newInvoices.columns.split(', ').length + 1;
const insertInvoiceWithKey = statement(
  'invoices_insert_with_key',
  insertNew(
    newInvoices.fromOne('given'),
    `, key as (
    insert into idempotency_keys (account_id, key, body_hash, resource_id, status, body)
    select account_id, $${next}, $${next + 1}, id, $${next + 2}, $${next + 3} from given)`,
  ),
);
// Its expiry is extended by no outage from before it had an address.
const insertChosen = statement(
  'invoices_insert_chosen',
  insertNew(newInvoices.fromOne('given'), '', {
    event: 'invoice.asset_chosen',
    version: CHOSEN_VERSION,
    extendedUntil: `$${next}::timestamptz`,
  }),
);

const rowOf = ({ invoice, event, watchBalance, addressGivenAt }: NewInvoice) => ({
  ...invoice,
  usdRate: formatRate(invoice.usdRate),
  quote: JSON.stringify(invoice.quote),
  metadata: JSON.stringify(invoice.metadata),
  fiatRate: invoice.fiatRate && JSON.stringify(invoice.fiatRate),
  balanceCheckAt: watchBalance ? (addressGivenAt ?? invoice.createdAt) : null,
  eventId: event.id,
  payload: JSON.stringify(event.payload),
  requestId: event.requestId,
});

/** Saves new invoices, all or none, in one statement. */
export async function saveNewInvoices(db: Queryable, given: readonly NewInvoice[]): Promise<void> {
  const rows = given.map(rowOf);
  const [first] = rows;
  if (rows.length > 1) await db.rows(insertInvoices, newInvoices.values(rows));
  else if (first !== undefined) await db.rows(insertInvoice, newInvoices.valuesOfOne(first));
}

/** Saves a new invoice together with the answer to the request that came with `key`. */
export async function saveAnsweredInvoice(
  db: Queryable,
  given: NewInvoice,
  key: IdempotencyKey,
  { status, body }: { status: number; body: object },
): Promise<void> {
  const answer = [key.key, key.bodyHash, status, JSON.stringify(body)];
  await db.rows(insertInvoiceWithKey, [...newInvoices.valuesOfOne(rowOf(given)), ...answer]);
}

/** Saves an invoice whose asset was chosen, with the event that says so. */
export async function saveChosenInvoice(
  trx: Trx,
  chosen: NewInvoice & { addressGivenAt: Date },
): Promise<void> {
  invariant(chosen.invoice.version === CHOSEN_VERSION, 'a choice is the first change of an invoice');
  await trx.rows(insertChosen, [...newInvoices.valuesOfOne(rowOf(chosen)), chosen.addressGivenAt]);
}

const lockInvoicesById = query<InvoiceRow>(
  'invoices_lock',
  `select ${invoiceColumns} from invoices where id = any($1::text[]) order by id for update`,
);

/**
 * Locks invoices, always in the order of their ids. It comes before any change of an invoice or its deposits, so that
 * what is read afterwards stays true until the commit.
 */
export async function lockInvoices(trx: Trx, ids: Iterable<InvoiceId>): Promise<Invoice[]> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return [];
  const rows = await trx.rows(lockInvoicesById, [wanted]);
  invariant(rows.length === wanted.length, 'an invoice is never deleted');
  return rows.map(toInvoice);
}

const updateCancelled = statement(
  'invoices_cancel',
  'update invoices set cancelled_at = $2, expires_at = $3 where id = $1',
);

/** Of an invoice that is locked and recomputed afterwards. */
export async function saveCancellation(trx: Trx, id: InvoiceId, ended: Cancellation): Promise<void> {
  await trx.rows(updateCancelled, [id, ended.cancelledAt, ended.expiresAt]);
}

const progress = bulk({
  id: 'text',
  status: 'text',
  pendingAmount: 'numeric',
  paidAmount: 'numeric',
  reversedAmount: 'numeric',
  paidAt: 'timestamptz',
  closedAt: 'timestamptz',
  reportedEvents: 'jsonb',
  version: 'int',
});

const updateProgress = statement(
  'invoices_update',
  `update invoices i set
     status = u.status, pending_amount = u.pending_amount, paid_amount = u.paid_amount,
     reversed_amount = u.reversed_amount, paid_at = u.paid_at, closed_at = u.closed_at,
     reported_events = array(select jsonb_array_elements_text(u.reported_events)), version = u.version
   from ${progress.from('u')} where i.id = u.id`,
);

export async function saveInvoiceStates(
  trx: Trx,
  changed: readonly (Progress & Pick<Invoice, 'id' | 'version'>)[],
): Promise<void> {
  if (changed.length === 0) return;
  const rows = changed.map((one) => ({ ...one, reportedEvents: JSON.stringify(one.reportedEvents) }));
  await trx.rows(updateProgress, progress.values(rows));
}

const selectAwaited = statement(
  'invoices_awaited',
  `select 1 from invoices where closed_at is null and status in ('pending', 'partially_paid', 'confirmed') and chain = $1
   limit 1`,
);

/** Whether an invoice of a chain waits for a payment, or for one to be final. */
export const isPaymentAwaited = async (db: Queryable, chain: Chain): Promise<boolean> =>
  (await db.maybe(selectAwaited, [chain])) !== undefined;

const selectExpiring = query<{ id: InvoiceId }>(
  'invoices_expiring',
  `select i.id from invoices i
   join addresses a on a.chain = i.chain and a.address = i.address
   where i.closed_at is null and i.status in ('pending', 'partially_paid') and i.chain = $1
     and i.expires_at < $2 and (a.balance_check_at is null or i.expires_at < a.balance_known_until)
     and not exists (
       select 1 from mempool_payments s
       where s.invoice_id = i.id and (s.dropped_at is null or s.dropped_at >= $2 - $5::int * interval '1 millisecond')
         and s.first_seen_at <= i.expires_at and s.asset = i.asset and s.amount >= i.dust)
     and not exists (
       select 1 from deposits d
       where d.invoice_id = i.id and d.state = 'dropped' and d.first_seen_at <= i.expires_at
         and d.asset = i.asset and d.amount >= i.dust
         and (d.dropped_height is null or $4 < d.dropped_height + d.min_confirmations))
   order by i.expires_at, i.id limit $3`,
);

/**
 * Open invoices that expired before the known time of their chain and balance. Invoices that a dropped or mempool
 * payment holds open are left out: they would crowd out the others.
 */
export async function expiringInvoices(
  db: Queryable,
  chain: Chain,
  { knownUntil, height }: { knownUntil: Date; height: number },
  limit: number,
): Promise<InvoiceId[]> {
  const values = [chain, knownUntil, limit, height, AWAITED_AFTER_DROP_MS];
  return (await db.rows(selectExpiring, values)).map(({ id }) => id);
}

const deleteOldKeys = statement(
  'idempotency_delete_old',
  `delete from idempotency_keys where (account_id, key) in (
     select account_id, key from idempotency_keys
     where created_at < $1::timestamptz - interval '30 days' limit $2)
   returning 1`,
);

/** Deletes stored answers older than 30 days, at most `limit`. @returns how many */
export async function pruneIdempotencyKeys(db: Queryable, now: Date, limit: number): Promise<number> {
  return (await db.rows(deleteOldKeys, [now, limit])).length;
}
