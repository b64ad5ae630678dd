import { type AssetSymbol, chains } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import { type Queryable, query, type Selection } from '@quittance/shared/db';
import { type AccountId, type InvoiceId, newInvoiceId } from '@quittance/shared/ids';
import { type Cents, type Units, units } from '@quittance/shared/money';
import { countOf, type Place, pageOfFound } from '@quittance/shared/pages';
import type { Deposit } from '../domain/deposit.ts';
import type { Invoice, Status } from '../domain/invoice.ts';
import { LARGEST_SHOWN, type MempoolPayment, SHOWN_MAX, shownOf } from '../domain/mempool-payment.ts';
import type { UnchosenInvoice } from '../domain/unchosen-invoice.ts';
import { depositJson, depositOrder, fromJson } from './deposits.ts';
import { type InvoiceRow, invoiceColumns, toInvoice } from './invoices.ts';
import { mempoolPaymentJson, mempoolPaymentOrder } from './mempool-payments.ts';
import { sameOutpoint } from './payments.ts';
import { type InvoiceRefund, refundedAmount, refundOf, shownRefunds } from './refunds.ts';
import { type UnchosenJson, unchosenJson, unchosenOf } from './unchosen-invoices.ts';

/** An invoice with the payments that are shown and the height of its chain: the input of the views. */
export type FullInvoice = {
  invoice: Invoice;
  deposits: readonly Deposit[];
  mempoolPayments: readonly MempoolPayment[];
  /** How many payments there are, counted up to the limit of lists. */
  paymentsTotal: number;
  refunds: readonly InvoiceRefund[];
  /** What they take of the paid amount. */
  refundedAmount: Units;
  height: number;
  /** When its chain was last read up to its head; null: never. */
  syncedAt: Date | null;
};

/** An invoice, or one whose payer has not chosen the asset yet. */
export type FoundInvoice = FullInvoice | UnchosenInvoice;

/** What a new invoice has. */
export const nothingPaid = {
  deposits: [],
  mempoolPayments: [],
  paymentsTotal: 0,
  refunds: [],
  refundedAmount: units(0n),
} as const satisfies Partial<FullInvoice>;

const readDeposit = fromJson<Deposit>({ firstSeenAt: true, confirmedAt: true, creditedAt: true });
const readMempoolPayment = fromJson<MempoolPayment>({ firstSeenAt: true, droppedAt: true });

// Each payment once, in its current state (see `currentPayments` in test/payment-model.ts).
const depositShown = `not (d.state in ('dropped', 'reversed') and exists (
  select from mempool_payments s where s.chain = d.chain and s.outpoint = d.outpoint and s.dropped_at is null))`;
const mempoolShown = `not ${sameOutpoint(
  's',
  `(s.dropped_at is not null or o.state not in ('dropped', 'reversed'))`,
)}`;

/** The payments of an invoice `i`, to be counted. */
const allShown = `select 1 from deposits d where d.invoice_id = i.id and ${depositShown}
  union all select 1 from mempool_payments s where s.invoice_id = i.id and ${mempoolShown}`;

/** The deposits of an invoice `i` that may be shown (see `shownOf`), read through indexes. */
const shownDeposits = `
  select json_agg(${depositJson('d')} order by ${depositOrder}) from deposits d where d.id in (
    (select d.id from deposits d where d.invoice_id = i.id and ${depositShown}
     order by d.first_seen_at desc, d.id desc limit ${SHOWN_MAX})
    union all
    (select d.id from deposits d where d.invoice_id = i.id and d.asset = i.asset and ${depositShown}
     order by d.amount desc, d.id desc limit ${LARGEST_SHOWN}))`;

/** Its mempool payments that may be shown. */
const shownMempoolPayments = `
  select json_agg(${mempoolPaymentJson('s')} order by ${mempoolPaymentOrder}) from mempool_payments s
  where s.chain = i.chain and s.outpoint in (
    (select s.outpoint from mempool_payments s where s.invoice_id = i.id and ${mempoolShown}
     order by s.first_seen_at desc, s.outpoint desc limit ${SHOWN_MAX})
    union all
    (select s.outpoint from mempool_payments s where s.invoice_id = i.id and s.asset = i.asset and ${mempoolShown}
     order by s.amount desc, s.outpoint desc limit ${LARGEST_SHOWN}))`;

type FullRow = InvoiceRow & {
  height: number;
  syncedAt: Date | null;
  deposits: object[] | null;
  mempoolPayments: object[] | null;
  paymentsTotal: number;
  refunds: object[] | null;
  refundedAmount: Units;
};
const fullColumns = `${invoiceColumns}, coalesce(c.height, 0) as height, c.synced_at,
     (${shownDeposits}) as deposits,
     (${shownMempoolPayments}) as mempool_payments,
     (${countOf(`(${allShown}) as shown`)}) as payments_total,
     (${shownRefunds}) as refunds,
     (${refundedAmount}) as refunded_amount
   from invoices i left join cursors c using (chain)`;
const selectFull = query<FullRow>('invoices_full', `select ${fullColumns} where i.id = $1`);
const selectSeveral = query<FullRow>(
  'invoices_full_several',
  `select ${fullColumns} where i.id = any($1::text[])`,
);

/** Invoices in the order of their ids, in one statement; undefined where there is none. */
export async function findInvoices(
  db: Queryable,
  ids: readonly InvoiceId[],
): Promise<(FullInvoice | undefined)[]> {
  const [only] = ids;
  const rows = ids.length === 1 ? await db.rows(selectFull, [only]) : await db.rows(selectSeveral, [ids]);
  const found = new Map(
    rows.map(({ deposits, mempoolPayments, refunds, ...others }): [InvoiceId, FullInvoice] => {
      const { paymentsTotal, refundedAmount, height, syncedAt, ...row } = others;
      const seen = {
        deposits: (deposits ?? []).map(readDeposit),
        mempoolPayments: (mempoolPayments ?? []).map(readMempoolPayment),
      };
      const shown = { ...shownOf(seen, row.asset), paymentsTotal, refunds: (refunds ?? []).map(refundOf) };
      return [row.id, { invoice: toInvoice(row), ...shown, refundedAmount, height, syncedAt }];
    }),
  );
  return ids.map((id) => found.get(id));
}

/** The filters of a list; null filters nothing. */
export type ListFilter = {
  status: Status | null;
  asset: AssetSymbol | null;
  external_id: string | null;
  external_id_prefix: string | null;
  address: string | null;
  tx_hash: string | null;
  amount_fiat: Cents | null;
  currency: Currency | null;
  payment_link_id: string | null;
  created_from: Date | null;
  created_to: Date | null;
  paid_from: Date | null;
  paid_to: Date | null;
};

/** The lowest id that an invoice created at `time` (milliseconds) could have. */
export const lowestId = (time: number): InvoiceId =>
  newInvoiceId(new Date(Math.max(0, time)), (size) => new Uint8Array(size));

/** Hexadecimal texts and those of Bitcoin are stored in small letters; Solana's differ by their case. */
const spellings = (text: string): string[] => [text, text.toLowerCase()];

const ofAddress = (p: string) => `select invoice_id from addresses
  where chain in (${chains.map((chain) => `'${chain}'`).join(', ')}) and address = any(${p}::text[])`;
const ofTransaction = (p: string) => `select invoice_id from deposits where tx_hash = any(${p}::text[])
  union all select invoice_id from mempool_payments where tx_hash = any(${p}::text[])`;

/**
 * The conditions of a list. Each combination of filters has its own statement name, so that it is planned once. A search has
 * none: it is planned for what is searched.
 */
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
  narrow('currency', filter.currency, (p) => `currency = ${p}`);
  narrow('external', filter.external_id, (p) => `external_id = ${p}`);
  narrow('link', filter.payment_link_id, (p) => `payment_link_id = ${p}`);
  const { external_id_prefix: prefix, amount_fiat: amount, address, tx_hash: hash } = filter;
  narrow('prefix', prefix, (p) => `external_id ^@ ${p}`);
  narrow('amount', amount, (p) => `amount_fiat = ${p}`);
  narrow('address', address && spellings(address), (p) => `id in (${ofAddress(p)})`);
  narrow('transaction', hash && spellings(hash), (p) => `id in (${ofTransaction(p)})`);
  const { paid_from: paidFrom, paid_to: paidTo } = filter;
  narrow('paid_from', paidFrom, (p) => `paid_at >= ${p}::timestamptz`);
  // Times are stored in milliseconds or finer: all of the last millisecond is included.
  narrow('paid_to', paidTo && new Date(paidTo.getTime() + 1), (p) => `paid_at < ${p}::timestamptz`);
  const isSearch = [prefix, amount, address, hash, paidFrom, paidTo].some((value) => value !== null);
  // Ids begin with their time in milliseconds: the index that orders the list also filters it.
  const { created_from: createdFrom, created_to: createdTo } = filter;
  narrow('from', createdFrom && lowestId(createdFrom.getTime()), (p) => `id >= ${p}`);
  narrow('to', createdTo && lowestId(createdTo.getTime() + 1), (p) => `id < ${p}`);
  const nameOf = (what: string) => (isSearch ? '' : `invoices_${what}_${names.join('_')}`);
  // What only an asset has, no invoice has before the choice; it is not paid either.
  const isOfAsset = [filter.asset, address, hash, paidFrom, paidTo].some((value) => value !== null);
  const tables = isOfAsset ? ['invoices'] : ['invoices', 'unchosen_invoices'];
  /** The ids that are found, with what follows the conditions in each table. */
  const found = (rest = '') =>
    tables
      .map((table) => `(select id from ${table} where ${conditions.join(' and ')} ${rest})`)
      .join(' union all ');
  return { values, where: conditions.join(' and '), found, nameOf };
}

/** Columns of an invoice, all null where `unchosen` is not. */
type ListedRow = InvoiceRow & { unchosen: UnchosenJson | null };

/** The invoices of a page, newest first, and the list's total. */
export async function listInvoices(
  db: Queryable,
  account: AccountId,
  filter: ListFilter,
  place: Place,
): Promise<{ items: (Invoice | UnchosenInvoice)[]; total: number }> {
  const { values, found, nameOf } = narrowed(account, filter);
  const limit = `$${values.length + 1}::bigint + 1`;
  const offset = `$${values.length + 2}::bigint`;
  // The ids of the page come from an index of each table alone, one more than shown. Only then are the rows read. Without a
  // limit in each table Postgres reads and sorts all of both: measured with 120,000 invoices at 67 ms instead of 0.1 ms.
  const page = query<ListedRow>(
    nameOf('page'),
    `with page as (
       select id from (${found(`order by id desc limit ${limit} + ${offset}`)}) as found
       order by id desc limit ${limit} offset ${offset})
     select ${invoiceColumns},
       case when address is null then (select ${unchosenJson} from unchosen_invoices u where u.id = page.id) end as unchosen
     from page left join invoices using (id) order by id desc`,
  );
  const counting = query<{ total: number }>(nameOf('total'), countOf(`(${found()}) as found`));
  const [rows, { total }] = await Promise.all([
    db.rows(page, [...values, place.limit, place.offset]),
    db.one(counting, values),
  ]);
  const items = rows.map(({ unchosen, ...row }) =>
    unchosen === null ? toInvoice(row) : unchosenOf(unchosen),
  );
  return pageOfFound(total, place, items);
}

export type ExportedInvoice = InvoiceRow & Pick<FullInvoice, 'refundedAmount'>;

/** All invoices that the filters match, newest first. Nothing was asked for in an asset before the choice: those are left out. */
export function allInvoices(account: AccountId, filter: ListFilter): Selection<ExportedInvoice> {
  const { values, where } = narrowed(account, filter);
  const all = `select ${invoiceColumns}, (${refundedAmount}) as refunded_amount from invoices i where ${where} order by id desc`;
  return { rows: query('', all), values };
}
