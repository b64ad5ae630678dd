import { type AssetSymbol, assetSymbols, assets, type Chain } from '@quittance/shared/assets';
import { type Db, type Queryable, statement, type Trx } from '@quittance/shared/db';
import { type AccountId, newEventId, type PayoutId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import { countOf, type Place, pageOfFound, TOTAL_EXACT_MAX } from '@quittance/shared/pages';
import { stalledAfterSeconds } from '@quittance/shared/stalled-payouts';
import {
  assertMoves,
  type PayoutStatus,
  paidStatuses,
  payoutMoves,
  payoutStatuses,
  shownAs,
} from '../domain/payout-state.ts';
import { isHalted } from './halts.ts';
import { isIn } from './transaction-rows.ts';

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
  /** The deposit whose unresolved money goes back; null when it pays from the balance. */
  returnsDeposit: string | null;
  status: PayoutStatus;
  txHash: string | null;
  failedReason: string | null;
  version: number;
  createdAt: Date;
  completedAt: Date | null;
};

type PayoutRow = {
  seq: string;
  id: PayoutId;
  account_id: AccountId;
  asset: AssetSymbol;
  amount: string;
  network_fee: string;
  address: string;
  min_confirmations: number;
  returns_deposit: string | null;
  status: PayoutStatus;
  tx_hash: string | null;
  failed_reason: string | null;
  version: number;
  created_at: Date;
  completed_at: Date | null;
};

const sqlList = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ');
const isPaid = (column: string): string => `${column} in (${sqlList(paidStatuses)})`;

const columns = (table = 'payouts') =>
  ['seq', 'id', 'account_id', 'asset', 'amount', 'network_fee', 'address', 'min_confirmations', 'status']
    .concat(['returns_deposit', 'tx_hash', 'failed_reason', 'version', 'created_at', 'completed_at'])
    .map((column) => `${table}.${column}`)
    .join(', ');

const payoutOf = (row: PayoutRow): Payout => ({
  seq: row.seq,
  id: row.id,
  account: row.account_id,
  asset: row.asset,
  amount: units(row.amount),
  networkFee: units(row.network_fee),
  address: row.address,
  minConfirmations: row.min_confirmations,
  returnsDeposit: row.returns_deposit,
  status: row.status,
  txHash: row.tx_hash,
  failedReason: row.failed_reason,
  version: row.version,
  createdAt: row.created_at,
  completedAt: row.completed_at,
});

const insertRequest = statement(
  'payouts_insert',
  `insert into payouts (id, account_id, asset, amount, network_fee, address, min_confirmations, returns_deposit)
   select $1::bigint, $2::text, $3::text, $4::numeric, $5::numeric, $6::text, $7::int, $8::text
   where not ${isHalted('$3::text')}
   returning ${columns()}`,
);

export type NewPayout = Pick<
  Payout,
  'id' | 'account' | 'asset' | 'amount' | 'networkFee' | 'address' | 'minConfirmations' | 'returnsDeposit'
>;

/**
 * Writes down that a payout was asked for, before anybody is asked to reserve its money. Undefined when payouts of its
 * asset are halted.
 */
export async function insertRequested(db: Queryable, payout: NewPayout): Promise<Payout | undefined> {
  const row = await db.maybe<PayoutRow>(insertRequest, [
    payout.id,
    payout.account,
    payout.asset,
    payout.amount.toString(),
    payout.networkFee.toString(),
    payout.address,
    payout.minConfirmations,
    payout.returnsDeposit,
  ]);
  return row && payoutOf(row);
}

// One statement, because a client waits for it: the move, its event and the answer that its key keeps.
const reserveRequest = statement(
  'payouts_reserve',
  `with moved as (
     update payouts set status = 'reserved', version = version + 1, updated_at = now()
     where id = $1 and status = 'requested'
     returning id),
   told as (
     insert into outbox (id, kind, payload, request_id)
     select $2, 'payout.created', $3::jsonb, $4 from moved),
   answered as (
     update idempotency_keys set status = 201, body = $5::json
     where resource_id = $1::text and status is null and exists (select from moved))
   select count(*)::int as moved from moved`,
);

export type Reservation = {
  id: PayoutId;
  /** The payload of payout.created. */
  created: object;
  /** The body of the 201. */
  answer: object;
  requestId: string;
};

/** The ledger has placed the hold: the payout exists. False when it was no longer `requested`. */
export async function reserveRequested(db: Db, reservation: Reservation, now: Date): Promise<boolean> {
  assertMoves(payoutMoves, ['requested'], 'reserved');
  const { moved } = await db.one<{ moved: number }>(reserveRequest, [
    reservation.id,
    newEventId(now),
    JSON.stringify(reservation.created),
    reservation.requestId,
    JSON.stringify(reservation.answer),
  ]);
  return moved === 1;
}

const move = statement(
  'payouts_move',
  `update payouts set
     status = $3,
     version = version + 1,
     updated_at = now(),
     tx_hash = coalesce($4, tx_hash),
     failed_reason = coalesce($5, failed_reason),
     completed_at = case when $3 = 'mined' then now() else completed_at end
   where id = $1 and status = any($2)
   returning ${columns()}`,
);

/** Moves a payout on if it still is where the caller believes it to be; undefined when it is not. */
export async function movePayout(
  trx: Trx,
  id: PayoutId,
  from: readonly PayoutStatus[],
  to: PayoutStatus,
  { txHash = null, failedReason = null }: { txHash?: string | null; failedReason?: string | null } = {},
): Promise<Payout | undefined> {
  assertMoves(payoutMoves, from, to);
  const row = await trx.maybe<PayoutRow>(move, [id, from, to, txHash, failedReason]);
  return row && payoutOf(row);
}

const showSent = statement(
  'payouts_show_sent',
  `update payouts set status = 'broadcast', tx_hash = $2, version = version + 1, updated_at = now()
   where id = $1 and ${isPaid('status')}`,
);

/** A node has taken the first attempt at a payout, or a later one: that is the one shown. */
export async function showPayoutSent(trx: Trx, id: PayoutId, txHash: string): Promise<void> {
  assertMoves(payoutMoves, ['signed'], 'broadcast');
  await trx.rows(showSent, [id, txHash]);
}

const selectStale = statement(
  'payouts_stale',
  `select id from payouts
   where status = 'requested' and created_at < now() - $1::int * interval '1 millisecond'
   order by created_at, id limit 100 for update skip locked`,
);

/** Requests without a decision for so long, locked: the process that made them is gone. */
export async function staleRequests(trx: Trx, olderThanMs: number): Promise<PayoutId[]> {
  return (await trx.rows<{ id: PayoutId }>(selectStale, [olderThanMs])).map((row) => row.id);
}

const selectOne = statement('payouts_one', `select ${columns()} from payouts where id = $1`);

export async function findPayout(db: Queryable, id: PayoutId): Promise<Payout | undefined> {
  const row = await db.maybe<PayoutRow>(selectOne, [id]);
  return row && payoutOf(row);
}

// The oldest of each asset, so that many payouts of one do not hide the others.
const selectReserved = statement(
  'payouts_reserved',
  `select ${columns('oldest')} from unnest($1::text[], $2::bigint[]) as wanted(symbol, after),
   lateral (
     select * from payouts
     where asset = wanted.symbol and status = 'reserved' and seq > wanted.after
     order by seq limit $3) as oldest
   order by oldest.seq`,
);

/** Payouts with a hold and without a signature, oldest first: of each asset those after the given `seq`. */
export async function reservedPayouts(
  db: Queryable,
  after: ReadonlyMap<AssetSymbol, string>,
  perAsset: number,
): Promise<Payout[]> {
  const values = [[...after.keys()], [...after.values()], perAsset];
  return (await db.rows<PayoutRow>(selectReserved, values)).map(payoutOf);
}

// Those that are signed are found by their transactions: of all that ever were, only the open ones have an index. The
// offsets keep Postgres to that order.
export const openPayouts = `
  select status, asset, created_at from payouts where status = 'requested'
  union all select status, asset, created_at from payouts where status = 'reserved'
  union all select paid.status, paid.asset, paid.created_at
  from (select distinct payout_id from transactions t,
      lateral (select payout_id from payments where family = t.family offset 0) as of_family
    where ${isIn('open', 't.state')}) as under_way,
    lateral (select status, asset, created_at from payouts where id = payout_id offset 0) as paid
  where ${isPaid('paid.status')}`;

const selectStalled = statement(
  'payouts_stalled',
  `select chain, count(*)::int as payouts, min(created_at) as oldest
   from (${openPayouts}) as payout
     join unnest($1::text[], $2::text[], $3::int[]) as known(asset, chain, seconds) using (asset)
   where status <> 'requested' and created_at < now() - seconds * interval '1 second'
   group by chain`,
);

/** Payouts of a chain that are pending for longer than it takes. */
export type Stalled = { payouts: number; oldest: Date };

/** By chain; one without such payouts is not in the map. */
export async function stalledPayouts(db: Queryable): Promise<Map<Chain, Stalled>> {
  const chainsOf = assetSymbols.map((asset) => assets[asset].chain);
  const seconds = chainsOf.map((chain) => stalledAfterSeconds[chain]);
  const rows = await db.rows<Stalled & { chain: Chain }>(selectStalled, [assetSymbols, chainsOf, seconds]);
  return new Map(rows.map(({ chain, ...stalled }) => [chain, stalled]));
}

export type PayoutFilter = {
  account: AccountId;
  statuses: readonly PayoutStatus[] | null;
  asset: AssetSymbol | null;
  createdFrom: Date | null;
  createdTo: Date | null;
};

const filtered = `account_id = $1
  and status not in (${sqlList(payoutStatuses.filter((status) => shownAs[status] === null))})
  and ($2::text[] is null or status = any($2))
  and ($3::text is null or asset = $3)
  and ($4::timestamptz is null or created_at >= $4)
  and ($5::timestamptz is null or created_at <= $5)`;

const countPage = statement('payouts_count', countOf(`payouts where ${filtered}`));

// Which rows are on the page, and whether one follows it, is found in the index alone; only those are fetched.
const selectPage = statement(
  'payouts_page',
  `select ${columns()} from payouts
   join (
     select seq from payouts where ${filtered} order by created_at desc, seq desc limit $6 + 1 offset $7) as page
   using (seq)
   order by created_at desc, seq desc`,
);

/** One page of a merchant's payouts, newest first, and the list's total. */
export async function payoutPage(
  db: Queryable,
  filter: PayoutFilter,
  place: Place,
): Promise<{ items: Payout[]; total: number }> {
  const values = [filter.account, filter.statuses, filter.asset, filter.createdFrom, filter.createdTo];
  const { total } = await db.one<{ total: number }>(countPage, values);
  if (total < TOTAL_EXACT_MAX && place.offset >= total) return { items: [], total };
  const rows = await db.rows<PayoutRow>(selectPage, [...values, place.limit, place.offset]);
  return pageOfFound(total, place, rows.map(payoutOf));
}
