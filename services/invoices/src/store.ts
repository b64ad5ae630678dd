import type { AssetSymbol, Chain, ChainKind } from '@quittance/shared/assets';
import { type Queryable, type Statement, statement, type Trx } from '@quittance/shared/db';
import type { IdempotencyKey } from '@quittance/shared/idempotency';
import { type AccountId, type EventId, type InvoiceId, newInvoiceId } from '@quittance/shared/ids';
import { cents, formatRate, parseRate, type Rate, units } from '@quittance/shared/money';
import { countOf, type Place, pageOfFound } from '@quittance/shared/pages';
import type { Quote } from '@quittance/shared/quotes';
import { invariant } from '@quittance/shared/result';
import type { Deposit } from './domain/deposit.ts';
import type { Invoice, Progress, Status } from './domain/invoice.ts';
import type { ClockOfInvoice, Outage } from './domain/outage.ts';
import { AWAITED_AFTER_GONE_MS, type Sighting, shownOf } from './domain/sighting.ts';
import { type DepositRow, toDeposit } from './store-deposits.ts';
import { allShown, shownDeposits, shownSightings } from './store-payments.ts';
import { type SightingRow, toSighting } from './store-sightings.ts';

type InvoiceRow = {
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

const toInvoice = (row: InvoiceRow): Invoice => ({
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
  invariant(rate.ok, 'a stored rate can be read');
  return rate.value;
}

/** A new invoice with its event, which stand or fall together. */
export type NewInvoice = {
  invoice: Invoice;
  event: { id: EventId; payload: object; requestId: string };
  /** Contracts may send native money there without a trace in the block: its balance must be looked at. */
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

/** Invoice, address and event from the rows of `given`, in one statement. */
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

/** An invoice with those of its payments that are shown, and how high its chain is: all that a view needs. */
export type FullInvoice = {
  invoice: Invoice;
  deposits: readonly Deposit[];
  sightings: readonly Sighting[];
  /** How many payments there are, counted no further than a list is. */
  paymentsTotal: number;
  height: number;
};

const fullColumns = `i.*, coalesce(c.height, 0) as height,
     (${shownDeposits}) as deposits,
     (${shownSightings}) as sightings,
     (${countOf(`(${allShown}) as shown`)}) as payments_total
   from invoices i left join cursors c on c.chain = i.chain`;
const selectFull = statement('invoices_full', `select ${fullColumns} where i.id = $1`);
const selectSeveral = statement(
  'invoices_full_several',
  `select ${fullColumns} where i.id = any($1::text[])`,
);

/** Invoices by their ids, in their order, in one statement; undefined where there is none. */
export async function findInvoices(
  db: Queryable,
  ids: readonly InvoiceId[],
): Promise<(FullInvoice | undefined)[]> {
  type Row = InvoiceRow & {
    height: number;
    deposits: DepositRow[] | null;
    sightings: SightingRow[] | null;
    payments_total: number;
  };
  const [only] = ids;
  const rows =
    ids.length === 1 ? await db.rows<Row>(selectFull, [only]) : await db.rows<Row>(selectSeveral, [ids]);
  const found = new Map(
    rows.map((row): [InvoiceId, FullInvoice] => {
      const seen = {
        deposits: (row.deposits ?? []).map(toDeposit),
        sightings: (row.sightings ?? []).map(toSighting),
      };
      const { payments_total: paymentsTotal, height } = row;
      return [row.id, { invoice: toInvoice(row), ...shownOf(seen, row.asset), paymentsTotal, height }];
    }),
  );
  return ids.map((id) => found.get(id));
}

/** What a merchant may narrow a list down to; null narrows nothing. */
export type ListFilter = {
  status: Status | null;
  asset: AssetSymbol | null;
  externalId: string | null;
  createdFrom: Date | null;
  createdTo: Date | null;
};

/** The lowest id that an invoice made at `time` (milliseconds) could have. */
const lowestId = (time: number): InvoiceId =>
  newInvoiceId(new Date(Math.max(0, time)), (size) => new Uint8Array(size));

/** The conditions of a list, and a name for each combination: each is planned once. */
function narrowed(account: AccountId, filter: ListFilter) {
  const values: unknown[] = [account];
  const conditions = ['account_id = $1'];
  const names: string[] = [];
  const narrow = (name: string, value: unknown, condition: (parameter: string) => string) => {
    if (value === null) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
    names.push(name);
  };
  narrow('status', filter.status, (p) => `status = ${p}`);
  narrow('asset', filter.asset, (p) => `asset = ${p}`);
  narrow('external', filter.externalId, (p) => `external_id = ${p}`);
  // Ids begin with their time, to the millisecond: the index that orders the list also narrows it.
  const { createdFrom, createdTo } = filter;
  narrow('from', createdFrom && lowestId(createdFrom.getTime()), (p) => `id >= ${p}`);
  narrow('to', createdTo && lowestId(createdTo.getTime() + 1), (p) => `id < ${p}`);
  return { values, where: conditions.join(' and '), name: names.join('_') };
}

/** The invoices of a page, newest first, and the list's total. */
export async function listInvoices(
  db: Queryable,
  account: AccountId,
  filter: ListFilter,
  place: Place,
): Promise<{ items: Invoice[]; total: number }> {
  const { values, where, name } = narrowed(account, filter);
  const n = values.length;
  // The page's ids come out of the index alone, one more than shown; only then are its rows fetched.
  const page: Statement = statement(
    `invoices_page_${name}`,
    `with page as (
       select id from invoices where ${where} order by id desc limit $${n + 1} + 1 offset $${n + 2})
     select i.* from page join invoices i using (id) order by id desc`,
  );
  const counting: Statement = statement(`invoices_total_${name}`, countOf(`invoices where ${where}`));
  const [rows, { total }] = await Promise.all([
    db.rows<InvoiceRow>(page, [...values, place.limit, place.offset]),
    db.one<{ total: number }>(counting, values),
  ]);
  return pageOfFound(total, place, rows.map(toInvoice));
}

const lockInvoicesById = statement(
  'invoices_lock',
  `select * from invoices where id = any($1::text[]) order by id for update`,
);

/**
 * Locks invoices, always in the same order: first of all, whoever changes an invoice or a deposit of it,
 * so that what is read after it stays true until the commit.
 */
export async function lockInvoices(trx: Trx, ids: Iterable<InvoiceId>): Promise<Invoice[]> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return [];
  const rows = await trx.rows<InvoiceRow>(lockInvoicesById, [wanted]);
  invariant(rows.length === wanted.length, 'an invoice never goes away');
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

export async function saveProgress(
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
 * Open invoices whose time is over, as far as their chain and their balance are known, but those that the fold holds
 * open for a payment without a block: they would crowd out the others.
 */
export async function expiringInvoices(
  db: Queryable,
  chain: Chain,
  { knownUntil, height }: { knownUntil: Date; height: number },
  limit: number,
): Promise<InvoiceId[]> {
  const values = [chain, knownUntil, limit, height, AWAITED_AFTER_GONE_MS];
  const rows = await db.rows<{ id: InvoiceId }>(selectExpiring, values);
  return rows.map(({ id }) => id);
}

const lockStopped = statement(
  'invoices_lock_stopped',
  `select id, created_at as "createdAt", expires_at as "expiresAt", extended_ms::float8 as "extendedMs",
     clock_until as "clockUntil"
   from invoices
   where chain = $1 and closed_at is null and status in ('pending', 'partially_paid', 'confirmed')
     and expires_at >= coalesce($2::timestamptz, '-infinity') and created_at < $3
     and (clock_until is null or clock_until < $3) and id > coalesce($4::text, '')
   order by id limit $5 for update`,
);

/** Locks open invoices whose clocks stood still in an outage that was not reckoned for them yet, by their ids. */
export async function lockStoppedClocks(
  trx: Trx,
  chain: Chain,
  outage: Outage,
  after: InvoiceId | null,
  limit: number,
): Promise<(ClockOfInvoice & { id: InvoiceId })[]> {
  return await trx.rows(lockStopped, [chain, outage.from, outage.until, after, limit]);
}

const updateClocks = statement(
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

/** Writes how much longer they live; answers those with payments, which may be in time now. */
export async function extendInvoices(
  trx: Trx,
  extended: readonly { id: InvoiceId; ms: number }[],
  until: Date,
): Promise<InvoiceId[]> {
  const rows = await trx.rows<{ id: InvoiceId; isPaidTo: boolean }>(updateClocks, [
    extended.map(({ id }) => id),
    extended.map(({ ms }) => ms),
    until,
  ]);
  return rows.filter(({ isPaidTo }) => isPaidTo).map(({ id }) => id);
}

const deleteOldKeys = statement(
  'idempotency_delete_old',
  `delete from idempotency_keys where (account_id, key) in (
     select account_id, key from idempotency_keys
     where created_at < $1::timestamptz - interval '30 days' limit $2)
   returning 1`,
);

/** Forgets answers older than 30 days, at most `limit`; answers how many. */
export async function forgetOldKeys(db: Queryable, now: Date, limit: number): Promise<number> {
  return (await db.rows(deleteOldKeys, [now, limit])).length;
}

/** Networks of a kind share their numbers: an address is given out once, whichever of its networks it is for. */
const addressBlocks = {
  bitcoin: 'bitcoin_address_blocks',
  evm: 'ethereum_address_blocks',
} as const satisfies Partial<Record<ChainKind, string>>;
export type KindWithPublicKeys = keyof typeof addressBlocks;

/** The number of a block of derivation indexes that nobody else takes. */
export async function nextAddressBlock(db: Queryable, kind: KindWithPublicKeys): Promise<number> {
  const row = await db.one<{ block: number }>(`select nextval('${addressBlocks[kind]}')::int as block`);
  return row.block;
}
