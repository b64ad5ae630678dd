import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { countOf, type Place, pageOfFound } from '@quittance/shared/pages';
import type { RefundState } from '../domain/refund.ts';
import { refundColumns, type StoredRefund } from './refund-rows.ts';

/** What is null is not asked about. */
type RefundFilter = {
  account: AccountId;
  status: RefundState | null;
  asset: AssetSymbol | null;
  invoiceId: string | null;
  depositId: string | null;
  externalId: string | null;
  createdFrom: Date | null;
  createdTo: Date | null;
};

const isOver = `state = 'claimable' and expires_at <= now()`;

const conditions = {
  account: 'account_id = ?',
  // As it is shown. In a form that an index of the states serves.
  status: `state = ? and not (${isOver})`,
  asset: 'asset = ?',
  invoiceId: 'invoice_id = ?',
  depositId: 'deposit_id = ?',
  externalId: 'external_id = ?',
  createdFrom: 'created_at >= ?',
  createdTo: 'created_at <= ?',
} as const satisfies Record<keyof RefundFilter, string>;

const isShownAsExpired = `(state = ? or (${isOver}))`;

/**
 * A request that the ledger has not placed a hold for is no payout that merchants see, and may never be one. Not `exists`, for
 * which Postgres would read all payouts.
 */
const hasNoPayout = `coalesce((
  select p.status in ('requested', 'refused', 'voided') from payouts p where p.id = refunds.payout_id), false)`;

/** Not while the ledger has not decided about the payout of a refund to an address: it may never come to exist. */
const isShown = `state <> 'voided' and (state <> 'pending' or claim_hash is not null or not ${hasNoPayout})`;

const shownColumns = refundColumns('refunds', `case when not ${hasNoPayout} then refunds.payout_id end`);

/** One page of a merchant's refunds, newest first, and the list's total. The statements have no name, as those of payouts. */
export async function refundPage(
  db: Queryable,
  filter: RefundFilter,
  place: Place,
): Promise<{ items: StoredRefund[]; total: number }> {
  const asked = Object.entries(conditions).filter(([name]) => filter[name as keyof RefundFilter] !== null);
  const values = asked.map(([name]) => filter[name as keyof RefundFilter]);
  const sqlOf = (name: string, sql: string) =>
    name === 'status' && filter.status === 'expired' ? isShownAsExpired : sql;
  const where = [isShown, ...asked.map(([name, sql], i) => sqlOf(name, sql).replace('?', `$${i + 1}`))].join(
    ' and ',
  );
  const { total } = await db.one(query<{ total: number }>('', countOf(`refunds where ${where}`)), values);
  const [limit, offset] = [values.length + 1, values.length + 2];
  const selectPage = query<StoredRefund>(
    '',
    `select ${shownColumns} from refunds where ${where} order by created_at desc, id desc
     limit $${limit} + 1 offset $${offset}`,
  );
  return pageOfFound(total, place, await db.rows(selectPage, [...values, place.limit, place.offset]));
}

const selectShown = query<StoredRefund>(
  'refunds_shown',
  `select ${shownColumns} from refunds where id = $1 and ${isShown}`,
);

/** A refund that merchants see. */
export const findShownRefund = (db: Queryable, id: string) => db.maybe(selectShown, [id]);
