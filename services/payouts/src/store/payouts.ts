import { type AssetSymbol, assetSymbols, assets, type Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, ActorId, InvoiceId, PayoutId, RefundId } from '@quittance/shared/ids';
import type { Metadata } from '@quittance/shared/metadata';
import type { Units } from '@quittance/shared/money';
import { stalledAfterSeconds } from '@quittance/shared/stalled-payouts';
import type { GivenDecision } from '../domain/approval.ts';
import { assertMoves, type PayoutStatus, paidStatuses, payoutMoves } from '../domain/states.ts';
import { followAutomaticPayout } from './automatic-payouts.ts';
import { isHalted } from './halts.ts';
import { followPayouts } from './refunds.ts';
import { insertOf, type KeptRequest, proofValues } from './request-proofs.ts';
import { isIn } from './transactions.ts';

export type Payout = {
  seq: string;
  id: PayoutId;
  account: AccountId;
  asset: AssetSymbol;
  amount: Units;
  networkFee: Units;
  /** Canonical. */
  address: string;
  minConfirmations: number;
  /** The deposit that a refund pays back; null when it pays from the balance. */
  returnsDeposit: string | null;
  /** The refund that it pays, and the refund's invoice; null when it pays none. */
  refundId: RefundId | null;
  invoiceId: InvoiceId | null;
  /** The merchant's own reference, and its own notes. */
  externalId: string | null;
  metadata: Metadata;
  /** US dollars for one whole asset when it was requested, as decimal text; null for payouts from before this was stored. */
  usdRate: string | null;
  status: PayoutStatus;
  /** The API token that has requested it, or its rule or claim link; null where that is not known. */
  madeBy: ActorId | null;
  /** How many other tokens must approve it; null when it needs none. */
  approvalsNeeded: number | null;
  approvals: readonly GivenDecision[];
  /** Unless it is approved before, it fails. */
  approvalExpiresAt: Date | null;
  /** Requested by a rule of its merchant, and not by a request. */
  isAutomatic: boolean;
  /** The batch that it was requested in; null when it was requested by itself. */
  batchId: string | null;
  /** When its merchant asked that it is cancelled; null when it did not. */
  cancelRequestedAt: Date | null;
  txHash: string | null;
  failedReason: string | null;
  version: number;
  createdAt: Date;
  completedAt: Date | null;
  /** When it failed; null when it has not. */
  failedAt: Date | null;
};

const sqlList = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ');
const isPaid = (column: string): string => `${column} in (${sqlList(paidStatuses)})`;

/** The columns of a payout, of the relation `of`. */
export const payoutColumns = (of = 'payouts') =>
  ['seq', 'id', 'asset', 'amount', 'network_fee', 'address', 'min_confirmations', 'status', 'returns_deposit']
    .concat([
      'refund_id',
      'invoice_id',
      'external_id',
      'metadata',
      'usd_rate::text as usd_rate',
      'account_id as account',
      'cancel_requested_at',
      'batch_id',
      'made_by',
      'approvals_needed',
      'approvals',
      'approval_expires_at',
      'automatic as is_automatic',
      'tx_hash',
      'failed_reason',
      'version',
      'created_at',
      'completed_at',
    ])
    .map((column) => `${of}.${column}`)
    // A payout that has failed never changes again.
    .concat(`case when ${of}.status = 'failed' then ${of}.updated_at end as failed_at`)
    .join(', ');

/** The columns that every request for a payout has. */
export const requestColumns = {
  id: 'bigint',
  account: 'account_id text',
  asset: 'text',
  amount: 'numeric',
  networkFee: 'numeric',
  address: 'text',
  minConfirmations: 'int',
  externalId: 'text',
  metadata: 'json',
  usdRate: 'numeric',
  madeBy: 'text',
} as const;

const requests = bulk({
  ...requestColumns,
  ...{ assertionId: 'text', returnsDeposit: 'text', refundId: 'text', invoiceId: 'text' },
  takesAll: 'bool',
  isAutomatic: 'automatic bool',
});

const insertRequest = query<Payout>(
  'payouts_insert',
  `with made as (
     ${requests.insertInto('payouts')} where not ${isHalted('given.asset')} returning *),
   shown as (${insertOf(requests.columns.split(', ').length + 1, 'made')})
   select ${payoutColumns('made')} from made`,
);

export type NewPayout = Pick<
  Payout,
  keyof typeof requestColumns | 'returnsDeposit' | 'refundId' | 'invoiceId'
> & {
  /** The request that asks for it; null when a rule or a claim link does. */
  request: KeptRequest | null;
  /** Until the ledger has decided, `amount` is the least that it may be. */
  takesAll: boolean;
  isAutomatic?: boolean;
};

/** Stores a request before the ledger is asked to reserve its money. Undefined when payouts of its asset are halted. */
export const insertRequested = (db: Queryable, { isAutomatic = false, request, ...payout }: NewPayout) => {
  const row = { ...payout, isAutomatic, assertionId: request?.id ?? null };
  const values = requests.values([{ ...row, metadata: JSON.stringify(payout.metadata) }]);
  return db.maybe(insertRequest, [...values, ...proofValues(request)]);
};

const move = query<Payout>(
  'payouts_move',
  `update payouts set
     status = $3,
     version = version + 1,
     updated_at = now(),
     tx_hash = coalesce($4, tx_hash),
     failed_reason = coalesce($5, failed_reason),
     completed_at = case when $3 = 'mined' then now() else completed_at end
   where id = $1 and status = any($2)
   returning ${payoutColumns()}`,
);

/**
 * Changes the status of a payout that has one of the statuses `from`; undefined when it has none of them. When a payout
 * ends, the refund that it pays follows, and the rule that created it.
 */
export async function movePayout(
  trx: Trx,
  id: PayoutId,
  from: readonly PayoutStatus[],
  to: PayoutStatus,
  { txHash, failedReason }: { txHash?: string; failedReason?: string } = {},
): Promise<Payout | undefined> {
  assertMoves(payoutMoves, from, to);
  const moved = await trx.maybe(move, [id, from, to, txHash, failedReason]);
  if (moved !== undefined && moved.refundId !== null) await followPayouts(trx, id);
  if (moved?.isAutomatic && (to === 'mined' || to === 'failed'))
    await followAutomaticPayout(trx, { ...moved, status: to });
  return moved;
}

const showSent = statement(
  'payouts_show_sent',
  `update payouts set status = 'broadcast', tx_hash = $2, version = version + 1, updated_at = now()
   where id = $1 and ${isPaid('status')}`,
);

/** A node has accepted an attempt at a payout: that attempt is shown. */
export async function showPayoutSent(trx: Trx, id: PayoutId, txHash: string): Promise<void> {
  assertMoves(payoutMoves, ['signed'], 'broadcast');
  await trx.rows(showSent, [id, txHash]);
}

const selectStale = query<{ id: PayoutId }>(
  'payouts_stale',
  `select id from payouts
   where status = 'requested'
     and created_at < now() - $1::int * (case when batch_id is null then 1 else 5 end) * interval '1 millisecond'
   order by created_at, id limit 100 for update skip locked`,
);

/** Requests that are undecided for that long, in a batch five times as long, locked. Their process has died. */
export async function staleRequests(trx: Trx, olderThanMs: number): Promise<PayoutId[]> {
  return (await trx.rows(selectStale, [olderThanMs])).map((row) => row.id);
}

const selectOne = query<Payout>('payouts_one', `select ${payoutColumns()} from payouts where id = $1`);

export const findPayout = (db: Queryable, id: PayoutId) => db.maybe(selectOne, [id]);

const plan = query<{ id: PayoutId }>(
  'payouts_plan',
  `update payouts set status = 'planned', version = version + 1, updated_at = now()
   where id = any($1::bigint[]) and status = 'reserved' and cancel_requested_at is null returning id`,
);

/** Puts payouts into a plan of what is signed. False when one of them may not be signed any more: roll back then. */
export async function planPayouts(trx: Trx, ids: readonly PayoutId[]): Promise<boolean> {
  assertMoves(payoutMoves, ['reserved'], 'planned');
  return (await trx.rows(plan, [ids])).length === ids.length;
}

const unplan = statement(
  'payouts_unplan',
  `update payouts set status = 'reserved', version = version + 1, updated_at = now(),
     signing_waits_until = $2, signing_refused_because = $3
   where id = any($1::bigint[]) and status = 'planned'`,
);

/** Why a payout is not planned again before that time. */
export type SigningWait = { until: Date; because: string };

/** Takes payouts that are certainly not signed out of their plan. */
export async function unplanPayouts(trx: Trx, ids: readonly PayoutId[], wait?: SigningWait): Promise<void> {
  assertMoves(payoutMoves, ['planned'], 'reserved');
  await trx.rows(unplan, [ids, wait?.until, wait?.because]);
}

const wanted = bulk({ symbol: 'text', after: 'bigint' });

// The oldest of each asset, so that many payouts of one do not hide the others.
const selectReserved = query<Payout>(
  'payouts_reserved',
  `select ${payoutColumns('oldest')} from ${wanted.from('wanted')},
   lateral (
     select * from payouts
     where asset = wanted.symbol and status = 'reserved' and cancel_requested_at is null and seq > wanted.after
       and (signing_waits_until is null or signing_waits_until < now())
     order by seq limit $3) as oldest
   order by oldest.seq`,
);

/** Payouts to sign, with a hold and without a signature, oldest first: of each asset those after the given `seq`. */
export const reservedPayouts = (
  db: Queryable,
  after: ReadonlyMap<AssetSymbol, string>,
  perAsset: number,
): Promise<Payout[]> =>
  db.rows(selectReserved, [
    ...wanted.values([...after].map(([symbol, seq]) => ({ symbol, after: seq }))),
    perAsset,
  ]);

/** The oldest payouts to sign, with a hold and without a signature. */
export const oldestReserved = (db: Queryable, of: readonly AssetSymbol[], perAsset: number) =>
  reservedPayouts(db, new Map(of.map((asset) => [asset, '0'])), perAsset);

// Signed payouts are found by their open transactions, because only those have an index. The offsets keep Postgres to
// that order.
export const openPayouts = `
  select status, asset, created_at from payouts where status = 'requested'
  union all select status, asset, created_at from payouts where status = 'awaiting_approval'
  union all select status, asset, coalesce(approved_at, created_at) as created_at from payouts where status = 'reserved'
  union all select status, asset, coalesce(approved_at, created_at) as created_at from payouts where status = 'planned'
  union all select paid.status, paid.asset, coalesce(paid.approved_at, paid.created_at) as created_at
  from (select distinct payout_id from transactions t,
      lateral (select payout_id from payments where replacement_group = t.replacement_group offset 0) as of_group
    where ${isIn('open', 't.state')}) as in_flight,
    lateral (select status, asset, created_at, approved_at from payouts where id = payout_id offset 0) as paid
  where ${isPaid('paid.status')}`;

const limits = bulk({ asset: 'text', chain: 'text', seconds: 'int' });

const selectStalled = query<Stalled & { chain: Chain }>(
  'payouts_stalled',
  `select chain, count(*)::int as payouts, min(created_at) as oldest
   from (${openPayouts}) as payout join ${limits.from('known')} using (asset)
   where status not in ('requested', 'awaiting_approval') and created_at < now() - seconds * interval '1 second'
   group by chain`,
);

/** Payouts of a chain that are pending for longer than it takes. */
export type Stalled = { payouts: number; oldest: Date };

/** By chain; one without such payouts is not in the map. */
export async function stalledPayouts(db: Queryable): Promise<Map<Chain, Stalled>> {
  const known = assetSymbols.map((asset) => {
    const { chain } = assets[asset];
    return { asset, chain, seconds: stalledAfterSeconds[chain] };
  });
  const rows = await db.rows(selectStalled, limits.values(known));
  return new Map(rows.map(({ chain, ...stalled }) => [chain, stalled]));
}
