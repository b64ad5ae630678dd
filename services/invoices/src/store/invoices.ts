import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { IdempotencyKey } from '@quittance/shared/idempotency';
import type { AccountId, EventId, InvoiceId } from '@quittance/shared/ids';
import { cents, formatRate, parseRate, type Rate, units } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { invariant } from '@quittance/shared/result';
import type { Invoice, Progress, Status } from '../domain/invoice.ts';
import { AWAITED_AFTER_DROP_MS } from '../domain/mempool-payment.ts';

export type InvoiceRow = {
  id: InvoiceId;
  account_id: AccountId;
  external_id: string | null;
  asset: AssetSymbol;
  chain: Chain;
  amount_fiat: string;
  usd_rate: string;
  quote: Quote;
  amount_due: string;
  tolerance_bps: number;
  min_confirmations: number;
  dust: string;
  status: Status;
  pending_amount: string;
  paid_amount: string;
  reversed_amount: string;
  created_at: Date;
  expires_at: Date | null;
  paid_at: Date | null;
  closed_at: Date | null;
  succeed_url: string | null;
  timeout_url: string | null;
  address: string;
  derivation_index: number;
  version: number;
  announced: string[];
};

export const toInvoice = (row: InvoiceRow): Invoice => ({
  id: row.id,
  account: row.account_id,
  externalId: row.external_id,
  asset: row.asset,
  chain: row.chain,
  amountFiat: cents(row.amount_fiat),
  usdRate: toRate(row.usd_rate),
  quote: row.quote,
  amountDue: units(row.amount_due),
  toleranceBps: row.tolerance_bps,
  minConfirmations: row.min_confirmations,
  dust: units(row.dust),
  status: row.status,
  pendingAmount: units(row.pending_amount),
  paidAmount: units(row.paid_amount),
  reversedAmount: units(row.reversed_amount),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  paidAt: row.paid_at,
  closedAt: row.closed_at,
  succeedUrl: row.succeed_url,
  timeoutUrl: row.timeout_url,
  address: row.address,
  derivationIndex: row.derivation_index,
  version: row.version,
  announced: row.announced,
});

function toRate(text: string): Rate {
  const rate = parseRate(text);
  invariant(rate.ok, 'a stored rate is valid');
  return rate.value;
}

/** A new invoice with its event, saved together. */
export type NewInvoice = {
  invoice: Invoice;
  event: { id: EventId; payload: object; requestId: string };
  /** Contracts may send native money to its address, so its balance is checked. */
  watchBalance: boolean;
};

const newColumns = [
  ['id', 'text'],
  ['account_id', 'text'],
  ['external_id', 'text'],
  ['asset', 'text'],
  ['chain', 'text'],
  ['amount_fiat', 'numeric'],
  ['usd_rate', 'numeric'],
  ['quote', 'jsonb'],
  ['amount_due', 'numeric'],
  ['tolerance_bps', 'int'],
  ['min_confirmations', 'int'],
  ['dust', 'numeric'],
  ['created_at', 'timestamptz'],
  ['expires_at', 'timestamptz'],
  ['succeed_url', 'text'],
  ['timeout_url', 'text'],
  ['address', 'text'],
  ['derivation_index', 'int'],
] as const;
const besideColumns = [
  ['balance_check_at', 'timestamptz'],
  ['event_id', 'text'],
  ['payload', 'jsonb'],
  ['request_id', 'text'],
] as const;
const columns = [...newColumns, ...besideColumns];
const names = (of: readonly (readonly [string, string])[]): string => of.map(([name]) => name).join(', ');

/** Inserts invoice, address and event from the rows of `given`, in one statement. */
const insertGiven = (given: string, afterwards = ''): string => `
  with given as (${given}),
  invoice as (
    insert into invoices (${names(newColumns)}, announced)
    select ${names(newColumns)}, '{invoice.created}' from given),
  address as (
    insert into addresses (chain, address, invoice_id, derivation_index, given_height, balance_check_at)
    select chain, address, id, derivation_index,
      (select height from cursors where cursors.chain = given.chain), balance_check_at
    from given)${afterwards === '' ? '' : `, key as (${afterwards})`}
  insert into outbox (id, kind, payload, request_id)
  select event_id, 'invoice.created', payload, request_id from given`;

const one = `select ${columns.map(([name, type], i) => `$${i + 1}::${type} as ${name}`).join(', ')}`;
const several = `select * from unnest(${columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ')})
    as given(${names(columns)})`;

const insertInvoice = statement('invoices_insert', insertGiven(one));
const insertInvoices = statement('invoices_insert_several', insertGiven(several));
const n = columns.length;
const insertInvoiceWithKey = statement(
  'invoices_insert_with_key',
  insertGiven(
    one,
    `insert into idempotency_keys (account_id, key, body_hash, resource_id, status, body)
     values ($2, $${n + 1}, $${n + 2}, $1, $${n + 3}, $${n + 4})`,
  ),
);

const newValues = ({ invoice, event, watchBalance }: NewInvoice): unknown[] => [
  invoice.id,
  invoice.account,
  invoice.externalId,
  invoice.asset,
  invoice.chain,
  invoice.amountFiat,
  formatRate(invoice.usdRate),
  JSON.stringify(invoice.quote),
  invoice.amountDue,
  invoice.toleranceBps,
  invoice.minConfirmations,
  invoice.dust,
  invoice.createdAt,
  invoice.expiresAt,
  invoice.succeedUrl,
  invoice.timeoutUrl,
  invoice.address,
  invoice.derivationIndex,
  watchBalance ? invoice.createdAt : null,
  event.id,
  JSON.stringify(event.payload),
  event.requestId,
];

/** Saves new invoices, all or none, in one statement. */
export async function saveNewInvoices(db: Queryable, given: readonly NewInvoice[]): Promise<void> {
  const rows = given.map(newValues);
  const [first] = rows;
  if (first === undefined) return;
  if (rows.length === 1) await db.rows(insertInvoice, first);
  else
    await db.rows(
      insertInvoices,
      columns.map((_, i) => rows.map((row) => row[i])),
    );
}

/** Saves a new invoice together with the answer to the request that came with `key`. */
export async function saveAnsweredInvoice(
  db: Queryable,
  given: NewInvoice,
  key: IdempotencyKey,
  { status, body }: { status: number; body: object },
): Promise<void> {
  const values = [...newValues(given), key.key, key.bodyHash, status, JSON.stringify(body)];
  await db.rows(insertInvoiceWithKey, values);
}

const lockInvoicesById = statement(
  'invoices_lock',
  `select * from invoices where id = any($1::text[]) order by id for update`,
);

/**
 * Locks invoices, always in the order of their ids. It comes before any change of an invoice or its deposits, so that
 * what is read afterwards stays true until the commit.
 */
export async function lockInvoices(trx: Trx, ids: Iterable<InvoiceId>): Promise<Invoice[]> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return [];
  const rows = await trx.rows<InvoiceRow>(lockInvoicesById, [wanted]);
  invariant(rows.length === wanted.length, 'an invoice is never deleted');
  return rows.map(toInvoice);
}

const updateProgress = statement(
  'invoices_update',
  `update invoices i set
     status = u.status, pending_amount = u.pending_amount, paid_amount = u.paid_amount,
     reversed_amount = u.reversed_amount, paid_at = u.paid_at, closed_at = u.closed_at,
     announced = array(select jsonb_array_elements_text(u.announced)), version = u.version
   from unnest($1::text[], $2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::timestamptz[],
     $7::timestamptz[], $8::jsonb[], $9::int[])
     as u(id, status, pending_amount, paid_amount, reversed_amount, paid_at, closed_at, announced, version)
   where i.id = u.id`,
);

export async function saveInvoiceStates(
  trx: Trx,
  changed: readonly (Progress & Pick<Invoice, 'id' | 'version'>)[],
): Promise<void> {
  if (changed.length === 0) return;
  await trx.rows(updateProgress, [
    changed.map(({ id }) => id),
    changed.map(({ status }) => status),
    changed.map(({ pendingAmount }) => pendingAmount),
    changed.map(({ paidAmount }) => paidAmount),
    changed.map(({ reversedAmount }) => reversedAmount),
    changed.map(({ paidAt }) => paidAt),
    changed.map(({ closedAt }) => closedAt),
    changed.map(({ announced }) => JSON.stringify(announced)),
    changed.map(({ version }) => version),
  ]);
}

const selectExpiring = statement(
  'invoices_expiring',
  `select i.id from invoices i
   join addresses a on a.chain = i.chain and a.address = i.address
   where i.closed_at is null and i.status in ('pending', 'partially_paid') and i.chain = $1
     and i.expires_at < $2 and (a.balance_check_at is null or i.expires_at < a.balance_known_until)
     and not exists (
       select 1 from sightings s
       where s.invoice_id = i.id and (s.gone_at is null or s.gone_at >= $2 - $5::int * interval '1 millisecond')
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
  const rows = await db.rows<{ id: InvoiceId }>(selectExpiring, values);
  return rows.map(({ id }) => id);
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
