import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, AssertionId, BatchId, PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import { listPage, type Place } from '@quittance/shared/pages';
import type { BatchMode } from '../batch-order.ts';
import { assertMoves, type PayoutStatus, payoutMoves } from '../domain/states.ts';
import { isHalted } from './halts.ts';
import { type NewPayout, type Payout, payoutColumns, requestColumns } from './payouts.ts';

/** A line without a payout. `errors` by field, in the form of a 422; none of a line that could not be paid then. */
export type UnpaidLine = { line: number; errors?: Record<string, string[]>; hint?: string | undefined };

export type PayoutBatch = {
  id: BatchId;
  account: AccountId;
  mode: BatchMode;
  lines: number;
  unpaidLines: UnpaidLine[];
  /** What the balance had when it did not cover a line, in units, by the number of the line. */
  available: Readonly<Record<string, string>>;
  createdAt: Date;
  finishedAt: Date | null;
};

const columns = 'id, account_id as account, mode, lines, unpaid_lines, available, created_at, finished_at';

const insert = query<PayoutBatch>(
  'payout_batches_insert',
  `insert into payout_batches (id, account_id, mode, lines, unpaid_lines, assertion_id)
   values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
);

type NewBatch = Omit<PayoutBatch, 'available' | 'createdAt' | 'finishedAt'> & { assertionId: AssertionId };

export const insertBatch = (
  trx: Trx,
  { id, account, mode, lines, unpaidLines, assertionId }: NewBatch,
): Promise<PayoutBatch> =>
  trx.one(insert, [id, account, mode, lines, JSON.stringify(unpaidLines), assertionId]);

const selectOne = query<PayoutBatch>(
  'payout_batches_one',
  `select ${columns} from payout_batches where id = $1`,
);

export const findBatch = (db: Queryable, id: string) => db.maybe(selectOne, [id]);

/** A page of an account's batches, newest first, and the list's total. */
export const batchPage = (db: Queryable, account: AccountId, place: Place) =>
  listPage<PayoutBatch>(
    db,
    {
      table: 'payout_batches',
      key: 'id',
      columns: columns.replace(/^id,/, 'payout_batches.id,'),
      newestFirst: ['created_at', 'payout_batches.id'],
      where: { account_id: account },
    },
    place,
  );

const lockOne = query<PayoutBatch>(
  'payout_batches_lock',
  `select ${columns} from payout_batches where id = $1 and finished_at is null for update`,
);

/** A batch that is not finished, locked. Undefined when it is finished. */
export const lockUnfinished = (trx: Trx, id: BatchId) => trx.maybe(lockOne, [id]);

const mergeAvailable = statement(
  'payout_batches_available',
  'update payout_batches set available = available || $2::jsonb where id = $1',
);

/** Keeps what the balance had when it did not cover lines. */
export async function noteAvailable(
  trx: Trx,
  id: BatchId,
  available: PayoutBatch['available'],
): Promise<void> {
  if (Object.keys(available).length > 0) await trx.rows(mergeAvailable, [id, JSON.stringify(available)]);
}

const finish = statement(
  'payout_batches_finish',
  'update payout_batches set finished_at = now() where id = $1',
);

export async function markFinished(trx: Trx, id: BatchId): Promise<void> {
  await trx.rows(finish, [id]);
}

const selectStale = query<{ id: BatchId }>(
  'payout_batches_stale',
  `select id from payout_batches
   where finished_at is null and created_at < now() - $1::int * interval '1 millisecond'
   order by created_at limit 20`,
);

/** Batches that are not finished after that long. Their process has died. */
export const staleBatches = (db: Queryable, olderThanMs: number) => db.rows(selectStale, [olderThanMs]);

const requests = bulk({ ...requestColumns, batchId: 'text', batchLine: 'int' });

const insertRequests = query<Payout & { batchLine: number }>(
  'payout_batches_insert_payouts',
  `${requests.insertInto('payouts')} where not ${isHalted('given.asset')}
   order by batch_line returning ${payoutColumns()}, batch_line`,
);

export type NewBatchPayout = Omit<
  NewPayout,
  'request' | 'takesAll' | 'returnsDeposit' | 'isAutomatic' | 'refundId' | 'invoiceId'
> & {
  batchId: BatchId;
  batchLine: number;
};

/** Stores the requests of a batch before the ledger is asked. Those of halted assets are left out. */
export const insertBatchPayouts = (trx: Trx, payouts: readonly NewBatchPayout[]) =>
  trx.rows(
    insertRequests,
    requests.values(payouts.map((one) => ({ ...one, metadata: JSON.stringify(one.metadata) }))),
  );

const moveRequests = query<Payout>(
  'payout_batches_move_payouts',
  `update payouts set status = $2, version = version + 1, updated_at = now()
   where id = any($1::bigint[]) and status = 'requested'
   returning ${payoutColumns()}`,
);

/** Changes the status of those payouts that are `requested`, and returns them. */
export function moveRequested(
  trx: Trx,
  ids: readonly PayoutId[],
  to: Extract<PayoutStatus, 'reserved' | 'refused' | 'voided'>,
): Promise<Payout[]> {
  assertMoves(payoutMoves, ['requested'], to);
  return ids.length === 0 ? Promise.resolve([]) : trx.rows(moveRequests, [ids, to]);
}

/** A line that has a payout. */
export type PaidLine = {
  line: number;
  id: PayoutId;
  status: PayoutStatus;
  asset: AssetSymbol;
  amount: Units;
  networkFee: Units;
};

const selectLines = query<PaidLine>(
  'payout_batches_lines',
  `select batch_line as line, id, status, asset, amount, network_fee from payouts where batch_id = $1 order by batch_line`,
);

export const linesOf = (db: Queryable, id: BatchId) => db.rows(selectLines, [id]);

/** How many payouts of a batch have a status. */
export type StatusCount = { id: BatchId; status: PayoutStatus; count: number };

const selectCounts = query<StatusCount>(
  'payout_batches_counts',
  `select batch_id as id, status, count(*)::int as count from payouts where batch_id = any($1::text[]) group by 1, 2`,
);

export const countsOf = (db: Queryable, ids: readonly BatchId[]) => db.rows(selectCounts, [ids]);
