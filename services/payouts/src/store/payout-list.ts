import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, type Selection } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { countOf, type Place, pageOfFound, TOTAL_EXACT_MAX } from '@quittance/shared/pages';
import { type PayoutStatus, payoutStatuses, shownAs } from '../domain/states.ts';
import { type Payout, payoutColumns } from './payouts.ts';
import { isReverted } from './transactions.ts';

/** What is null is not asked about. */
export type PayoutFilter = {
  account: AccountId;
  statuses: readonly PayoutStatus[] | null;
  asset: AssetSymbol | null;
  createdFrom: Date | null;
  createdTo: Date | null;
  externalId: string | null;
  depositId: string | null;
  refundId: string | null;
  invoiceId: string | null;
  txHash: string | null;
  batchId: string | null;
  /** The canonical forms that a recipient's address may have. */
  addresses: readonly string[] | null;
};

const conditions = {
  account: 'account_id = ?',
  statuses: 'status = any(?)',
  asset: 'asset = ?',
  createdFrom: 'created_at >= ?',
  createdTo: 'created_at <= ?',
  externalId: 'external_id = ?',
  depositId: 'returns_deposit = ?',
  refundId: 'refund_id = ?',
  invoiceId: 'invoice_id = ?',
  txHash: 'tx_hash = ?',
  batchId: 'batch_id = ?',
  addresses: 'address = any(?)',
} as const satisfies Record<keyof PayoutFilter, string>;

const hidden = payoutStatuses.filter((status) => shownAs[status] === null);
const isShown = `status not in (${hidden.map((status) => `'${status}'`).join(', ')})`;

/** The given conditions of a list, and their values. */
function narrowed(filter: PayoutFilter): { where: string; values: unknown[] } {
  const asked = Object.entries(conditions).filter(([name]) => filter[name as keyof PayoutFilter] !== null);
  const values = asked.map(([name]) => filter[name as keyof PayoutFilter]);
  return {
    where: [isShown, ...asked.map(([, sql], i) => sql.replace('?', `$${i + 1}`))].join(' and '),
    values,
  };
}

/**
 * One page of a merchant's payouts, newest first, and the list's total. The statements name only the given conditions and have
 * no name: a prepared statement would be planned for no filter in particular.
 */
export async function payoutPage(
  db: Queryable,
  filter: PayoutFilter,
  place: Place,
): Promise<{ items: Payout[]; total: number }> {
  const { where, values } = narrowed(filter);
  const countPage = query<{ total: number }>('', countOf(`payouts where ${where}`));
  const { total } = await db.one(countPage, values);
  if (total < TOTAL_EXACT_MAX && place.offset >= total) return { items: [], total };
  const [limit, offset] = [values.length + 1, values.length + 2];
  // The rows of the page, and one more, are found in the index alone; only these are read.
  const selectPage = query<Payout>(
    '',
    `select ${payoutColumns()} from payouts
     join (
       select seq from payouts where ${where} order by created_at desc, seq desc
       limit $${limit} + 1 offset $${offset}) as page
     using (seq)
     order by created_at desc, seq desc`,
  );
  return pageOfFound(total, place, await db.rows(selectPage, [...values, place.limit, place.offset]));
}

/** A payout, and whether it failed and the chain had taken its fee. */
export type ExportedPayout = Payout & { feeKept: boolean };

/** All payouts that the filters match, newest first. */
export function allPayouts(filter: PayoutFilter): Selection<ExportedPayout> {
  const { where, values } = narrowed(filter);
  return {
    rows: query(
      '',
      `select ${payoutColumns()}, ${isReverted('payouts')} as fee_kept from payouts where ${where} order by created_at desc, seq desc`,
    ),
    values,
  };
}
