import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import { cents } from '@quittance/shared/money';
import type { Cancellation } from '../domain/cancellation.ts';
import type { UnchosenInvoice } from '../domain/unchosen-invoice.ts';

const columns = `id, account_id as account, external_id, description, metadata, currency, amount_fiat, assets, tolerance_bps,
  status, created_at, expires_at, cancelled_at, succeed_url, timeout_url, payment_link_id, version`;

const newOnes = bulk({
  id: 'text',
  account: 'account_id text',
  externalId: 'text',
  description: 'text',
  metadata: 'json',
  currency: 'text',
  amountFiat: 'numeric',
  assets: 'json',
  toleranceBps: 'int',
  createdAt: 'timestamptz',
  expiresAt: 'timestamptz',
  succeedUrl: 'text',
  timeoutUrl: 'text',
  paymentLinkId: 'text',
});
const otherColumns = newOnes.columns.replace(/\bassets, /, '');

const insertOne = statement(
  'unchosen_invoices_insert',
  `insert into unchosen_invoices (assets, ${otherColumns})
   select array(select json_array_elements_text(assets)), ${otherColumns} from ${newOnes.fromOne('given')}`,
);

export async function insertUnchosen(trx: Trx, invoice: UnchosenInvoice): Promise<void> {
  const { metadata, assets } = invoice;
  const row = { ...invoice, metadata: JSON.stringify(metadata), assets: JSON.stringify(assets) };
  await trx.rows(insertOne, newOnes.valuesOfOne(row));
}

const selectOne = query<UnchosenInvoice>(
  'unchosen_invoices_select',
  `select ${columns} from unchosen_invoices where id = $1`,
);

/** Undefined when there is none, and when its asset was chosen. */
export const findUnchosen = (db: Queryable, id: InvoiceId): Promise<UnchosenInvoice | undefined> =>
  db.maybe(selectOne, [id]);

const lockOne = query<UnchosenInvoice>('unchosen_invoices_lock', `${selectOne.text} for update`);

/** The same, locked. */
export const lockUnchosen = (trx: Trx, id: InvoiceId): Promise<UnchosenInvoice | undefined> =>
  trx.maybe(lockOne, [id]);

// Another transaction may have ended or moved the invoice: then this one waits for it, and finds no row.
const deleteChoosable = statement(
  'unchosen_invoices_take',
  `with taken as (
     delete from unchosen_invoices
     where id = $1 and status = 'pending' and (expires_at is null or expires_at > $2)
     returning id, account_id, assets, currency, amount_fiat)
   insert into asset_choices (invoice_id, account_id, asset, assets, currency, amount_fiat, chosen_at)
   select id, account_id, $3, assets, currency, amount_fiat, $4 from taken returning 1`,
);

/**
 * Removes an invoice that is pending and ends after a time, for the transaction that saves what was chosen, and records its terms
 * with the choice.
 */
export const takeUnchosen = async (
  trx: Trx,
  id: InvoiceId,
  { endsAfter, asset, now }: { endsAfter: Date; asset: AssetSymbol; now: Date },
): Promise<boolean> => (await trx.maybe(deleteChoosable, [id, endsAfter, asset, now])) !== undefined;

const expireDue = query<UnchosenInvoice>(
  'unchosen_invoices_expire',
  `update unchosen_invoices set status = 'expired', version = version + 1
   where id in (
     select id from unchosen_invoices where status = 'pending' and expires_at <= $1
     order by expires_at, id limit $2 for update skip locked)
   returning ${columns}`,
);

/** Ends invoices whose time to choose is over, at most `limit`, and returns them as they are now. */
export const expireUnchosenInvoices = (trx: Trx, now: Date, limit: number): Promise<UnchosenInvoice[]> =>
  trx.rows(expireDue, [now, limit]);

const cancelOne = query<UnchosenInvoice>(
  'unchosen_invoices_cancel',
  `update unchosen_invoices set status = 'expired', cancelled_at = $2, expires_at = $3, version = version + 1
   where id = $1 returning ${columns}`,
);

/** Of an invoice that is locked. */
export const saveUnchosenCancellation = (
  trx: Trx,
  id: InvoiceId,
  { cancelledAt, expiresAt }: Cancellation,
): Promise<UnchosenInvoice> => trx.one(cancelOne, [id, cancelledAt, expiresAt]);

/** An unchosen invoice `u` as JSON, for statements that read it beside others. */
export const unchosenJson = `json_build_object('id', u.id, 'account', u.account_id, 'externalId', u.external_id,
  'description', u.description, 'metadata', u.metadata, 'currency', u.currency, 'amountFiat', u.amount_fiat::text,
  'assets', u.assets, 'toleranceBps', u.tolerance_bps, 'status', u.status, 'createdAt', u.created_at,
  'expiresAt', u.expires_at, 'cancelledAt', u.cancelled_at, 'succeedUrl', u.succeed_url, 'timeoutUrl', u.timeout_url,
  'paymentLinkId', u.payment_link_id, 'version', u.version)`;

type Times = 'createdAt' | 'expiresAt' | 'cancelledAt';
export type UnchosenJson = Omit<UnchosenInvoice, 'amountFiat' | Times> & { amountFiat: string } & {
  [T in Times]: null extends UnchosenInvoice[T] ? string | null : string;
};

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

export const unchosenOf = (json: UnchosenJson): UnchosenInvoice => ({
  ...json,
  amountFiat: cents(json.amountFiat),
  createdAt: new Date(json.createdAt),
  expiresAt: dateOf(json.expiresAt),
  cancelledAt: dateOf(json.cancelledAt),
});
