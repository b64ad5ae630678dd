import type { Spend } from '@quittance/chains/chain';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import type { AddressFilter } from './address-filter.ts';
import type { Movement } from './domain/balance.ts';
import type { Sight } from './domain/outage.ts';

/** How far a chain was followed. */
export type Cursor = {
  height: number;
  hash: string;
  time: Date;
  /** Every payment made until then has been seen. */
  knownUntil: Date;
};

type CursorRow = { height: number; hash: string; time: Date; known_until: Date };

const toCursor = (row: CursorRow): Cursor => ({
  height: row.height,
  hash: row.hash,
  time: row.time,
  knownUntil: row.known_until,
});

const selectCursor = statement(
  'cursors_select',
  `select height, hash, time, known_until, exists (
     select from rescans r where r.chain = cursors.chain and r.ended_at is null) as rescan_asked
   from cursors where chain = $1`,
);

/** `isRescanAsked`: somebody wants blocks below to be read once more. */
export async function findCursor(
  db: Queryable,
  chain: Chain,
): Promise<(Cursor & { isRescanAsked: boolean }) | undefined> {
  const row = await db.maybe<CursorRow & { rescan_asked: boolean }>(selectCursor, [chain]);
  return row && { ...toCursor(row), isRescanAsked: row.rescan_asked };
}

const selectBalancesHeight = statement(
  'cursors_balances_seen',
  `select balances_height from cursors where chain = $1`,
);

/** The height at which every balance whose turn it was has been looked at. */
export async function balancesSeenAt(db: Queryable, chain: Chain): Promise<number | null> {
  return (await db.one<{ balances_height: number | null }>(selectBalancesHeight, [chain])).balances_height;
}

const lockCursorRow = statement(
  'cursors_lock',
  `select height, hash, time, known_until from cursors where chain = $1 for update`,
);

export async function lockCursor(trx: Trx, chain: Chain): Promise<Cursor> {
  return toCursor(await trx.one<CursorRow>(lockCursorRow, [chain]));
}

const insertCursor = statement(
  'cursors_insert',
  `insert into cursors (chain, height, hash, time, known_until) values ($1, $2, $3, $4, $5)`,
);

export async function beginCursor(trx: Trx, chain: Chain, cursor: Cursor): Promise<void> {
  await trx.rows(insertCursor, [chain, cursor.height, cursor.hash, cursor.time, cursor.knownUntil]);
}

const updateGiven = statement(
  'addresses_given_height',
  `update addresses set given_height = $2 where chain = $1 and given_height is null`,
);

/** Addresses that were given out before the chain was followed count from where it is followed. */
export async function dateAddresses(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(updateGiven, [chain, height]);
}

const updateCursor = statement(
  'cursors_update',
  `update cursors set height = $2, hash = $3, time = $4 where chain = $1`,
);

/** What is known of payments only grows at the head, see `markCaughtUp`. */
export async function moveCursor(trx: Trx, chain: Chain, { height, hash, time }: KnownBlock): Promise<void> {
  await trx.rows(updateCursor, [chain, height, hash, time]);
}

const selectSight = statement(
  'cursors_sight',
  `select caught_up_at as "reachedAt", known_until as "knownUntil",
     (select min(b.time) from blocks b where b.chain = c.chain and b.time > c.known_until) as "nextBlockAt"
   from cursors c where chain = $1`,
);

/** How far the chain was seen before. */
export async function sightOf(db: Queryable, chain: Chain): Promise<Sight> {
  return await db.one<Sight>(selectSight, [chain]);
}

const updateCaughtUp = statement(
  'cursors_caught_up',
  `update cursors set caught_up_at = $3, known_until = greatest(known_until, least(time, $2), $4) where chain = $1`,
);

/**
 * The node's head was reached by a step that began `at`, and the chain was seen until `seenAt`: all payments before the
 * head's time are known. Not beyond `at`: a chain whose clock is ahead of ours (blocks mined by hand) counts by ours. On a chain that is quiet until
 * asked, time passes all the same.
 */
export async function markCaughtUp(
  trx: Trx,
  chain: Chain,
  { at, seenAt, quietUntil }: { at: Date; seenAt: Date; quietUntil: Date | null },
): Promise<void> {
  await trx.rows(updateCaughtUp, [chain, at, seenAt, quietUntil]);
}

const selectFirstInvoice = statement(
  'invoices_first_of_chain',
  `select min(created_at) as first from invoices where chain = $1`,
);

/** When the first invoice on this chain was made; undefined when there is none. */
export async function firstInvoiceAt(db: Queryable, chain: Chain): Promise<Date | undefined> {
  const { first } = await db.one<{ first: Date | null }>(selectFirstInvoice, [chain]);
  return first ?? undefined;
}

export type KnownBlock = { height: number; hash: string; time: Date };

const insertBlocks = statement(
  'blocks_insert',
  `insert into blocks (chain, height, hash, time)
   select $1, * from unnest($2::int[], $3::text[], $4::timestamptz[])`,
);

export async function rememberBlocks(trx: Trx, chain: Chain, blocks: readonly KnownBlock[]): Promise<void> {
  await trx.rows(insertBlocks, [
    chain,
    blocks.map(({ height }) => height),
    blocks.map(({ hash }) => hash),
    blocks.map(({ time }) => time),
  ]);
}

const deleteBlocksBelow = statement('blocks_forget', `delete from blocks where chain = $1 and height < $2`);

export async function forgetBlocksBelow(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(deleteBlocksBelow, [chain, height]);
}

const deleteBlocksAbove = statement('blocks_drop', `delete from blocks where chain = $1 and height > $2`);
const deleteSpendsAbove = statement(
  'spends_drop',
  `delete from spends where chain = $1 and block_height > $2`,
);

export async function dropBlocks(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(deleteBlocksAbove, [chain, height]);
  await trx.rows(deleteSpendsAbove, [chain, height]);
}

const selectBlocksBelow = statement(
  'blocks_below',
  `select height, hash, time from blocks where chain = $1 and height < $2 order by height desc limit $3`,
);

/** Remembered blocks below `height`, the highest first. */
export async function blocksBelow(
  db: Queryable,
  chain: Chain,
  height: number,
  limit: number,
): Promise<KnownBlock[]> {
  return await db.rows<KnownBlock>(selectBlocksBelow, [chain, height, limit]);
}

const selectBlock = statement(
  'blocks_select',
  `select height, hash, time from blocks where chain = $1 and height = $2`,
);

export async function findBlock(
  db: Queryable,
  chain: Chain,
  height: number,
): Promise<KnownBlock | undefined> {
  return await db.maybe<KnownBlock>(selectBlock, [chain, height]);
}

const selectRemembered = statement(
  'blocks_between',
  `select height, hash, time from blocks where chain = $1 and height between $2 and $3`,
);
const selectLowest = statement('blocks_lowest', `select min(height) as lowest from blocks where chain = $1`);

/** What is remembered of these heights, and from which height on all blocks are. */
export async function rememberedBetween(
  db: Queryable,
  chain: Chain,
  low: number,
  high: number,
): Promise<{ blocks: KnownBlock[]; lowest: number | null }> {
  const blocks = await db.rows<KnownBlock>(selectRemembered, [chain, low, high]);
  const { lowest } = await db.one<{ lowest: number | null }>(selectLowest, [chain]);
  return { blocks, lowest };
}

/** Whose an address is. */
export type OurAddress = {
  address: string;
  invoiceId: InvoiceId;
  derivationIndex: number;
  minConfirmations: number;
  /** How far the chain was followed when it was given out; null: not at all. */
  givenHeight: number | null;
};

const selectOurs = statement(
  'addresses_ours',
  `select a.address, a.invoice_id as "invoiceId", a.derivation_index as "derivationIndex",
     i.min_confirmations as "minConfirmations", a.given_height as "givenHeight"
   from addresses a join invoices i on i.id = a.invoice_id
   where a.chain = $1 and a.address = any($2::text[])`,
);

/** Which of these addresses are ours: whatever their number, few are left to be looked up. */
export async function ourAddresses(
  db: Queryable,
  { chain, filter }: { chain: Chain; filter: AddressFilter },
  addresses: readonly string[],
): Promise<Map<string, OurAddress>> {
  if (addresses.length === 0) return new Map();
  const likely = await filter.among(db, addresses);
  if (likely.length === 0) return new Map();
  const rows = await db.rows<OurAddress>(selectOurs, [chain, likely]);
  return new Map(rows.map((row) => [row.address, row]));
}

const insertSpends = statement(
  'spends_insert',
  `insert into spends (chain, address, tx_hash, amount, block_height)
   select $1, * from unnest($2::text[], $3::text[], $4::numeric[], $5::int[])
   on conflict on constraint spends_once do nothing
   returning address, tx_hash as "txHash"`,
);

/** @returns those that were written down; each is once */
export async function recordSpends(
  trx: Trx,
  chain: Chain,
  spends: readonly (Spend & { height: number })[],
): Promise<Pick<Spend, 'address' | 'txHash'>[]> {
  if (spends.length === 0) return [];
  return await trx.rows(insertSpends, [
    chain,
    spends.map(({ address }) => address),
    spends.map(({ txHash }) => txHash),
    spends.map(({ amount }) => amount),
    spends.map(({ height }) => height),
  ]);
}

/** An address whose balance is to be explained. */
export type WatchedAddress = OurAddress & {
  /** What its invoice is to be paid in. */
  asset: AssetSymbol;
  /** Where its balance was last explained in full. */
  balanceHeight: number | null;
  /** What lay on it before it was given out; null: not looked at yet. */
  balanceBefore: Units | null;
  /** When its invoice was paid or closed. */
  doneAt: Date | null;
};

const watchedColumns = `a.address, a.invoice_id as "invoiceId", a.derivation_index as "derivationIndex",
     i.min_confirmations as "minConfirmations", a.given_height as "givenHeight",
     a.balance_height as "balanceHeight", a.balance_before as "balanceBefore",
     i.asset, coalesce(i.paid_at, i.closed_at) as "doneAt"`;

// Which of its payments are there is not known: what its balance holds beyond them is not either. A payment that the ledger
// has booked stands, whatever the node tells of it afterwards.
const notContradicted = `not exists (
       select 1 from contradictions c
       where c.chain = a.chain and c.invoice_id = a.invoice_id and c.ended_at is null
         and not exists (select 1 from deposits d where d.id = c.deposit_id and d.settled_at is not null))`;

type WatchedRow = Omit<WatchedAddress, 'balanceBefore'> & { balanceBefore: string | null };

const toWatched = (row: WatchedRow): WatchedAddress => ({
  ...row,
  balanceBefore: row.balanceBefore === null ? null : units(row.balanceBefore),
});

const selectBalancesDue = statement(
  'addresses_balance_due',
  `select ${watchedColumns}
   from addresses a join invoices i on i.id = a.invoice_id
   where a.chain = $1 and a.balance_check_at <= $2 and a.balance_height is distinct from $3
     and ${notContradicted}
   order by a.balance_check_at, a.address limit $4`,
);

/** Those whose turn it is and that were not looked at at this height, the longest waiting first. */
export async function balancesDue(
  db: Queryable,
  chain: Chain,
  height: number,
  now: Date,
  limit: number,
): Promise<WatchedAddress[]> {
  return (await db.rows<WatchedRow>(selectBalancesDue, [chain, now, height, limit])).map(toWatched);
}

const selectBalancesHoldingUp = statement(
  'addresses_balance_holding_up',
  `select ${watchedColumns}
   from invoices i join addresses a on a.chain = i.chain and a.address = i.address
   where i.closed_at is null and i.status in ('pending', 'partially_paid') and i.chain = $1
     and i.expires_at < $2 and a.balance_check_at is not null
     and (a.balance_known_until is null or a.balance_known_until <= i.expires_at)
     and ${notContradicted}
   order by i.expires_at, i.id limit $3`,
);

/** Those whose invoices’ time is over, and that must be looked at before they may expire. */
export async function balancesHoldingUp(
  db: Queryable,
  chain: Chain,
  knownUntil: Date,
  limit: number,
): Promise<WatchedAddress[]> {
  return (await db.rows<WatchedRow>(selectBalancesHoldingUp, [chain, knownUntil, limit])).map(toWatched);
}

// Block by block: anybody may send thousands of payments in one.
const selectMovements = statement(
  'addresses_native_movements',
  `select address, block_height as height, sum(amount)::text as amount from (
     select address, block_height, amount from deposits
     where chain = $1 and asset = $3 and state in ('seen', 'settled')
       and invoice_id = any($4::text[]) and address = any($2::text[])
     union all
     select address, block_height, -amount from spends where chain = $1 and address = any($2::text[])) as moved
   group by address, block_height`,
);

/** All native money that is known to have come to these addresses or left them, in each block. */
export async function nativeMovements(
  db: Queryable,
  chain: Chain,
  nativeAsset: string,
  addresses: readonly Pick<OurAddress, 'address' | 'invoiceId'>[],
): Promise<Map<string, (Movement & { address: string })[]>> {
  const rows = await db.rows<{ address: string; height: number; amount: string }>(selectMovements, [
    chain,
    addresses.map(({ address }) => address),
    nativeAsset,
    addresses.map(({ invoiceId }) => invoiceId),
  ]);
  const movements = rows.map((row) => ({ ...row, amount: units(row.amount) }));
  return Map.groupBy(movements, ({ address }) => address);
}

/** What a look at a balance found out. */
export type BalanceLook = {
  address: string;
  /** Where it is explained in full. */
  height: number;
  /** All money that came without a trace until then is known. */
  knownUntil: Date;
  /** What lay there before it was given out; null: nobody can tell. */
  before: Units | null;
  /** When to look again; null: never. */
  nextAt: Date | null;
};

const updateLooks = statement(
  'addresses_balance_looked',
  `update addresses a set
     balance_height = u.height, balance_known_until = u.known_until,
     balance_before = u.before, balance_check_at = u.next_at
   from unnest($2::text[], $3::int[], $4::timestamptz[], $5::numeric[], $6::timestamptz[])
     as u(address, height, known_until, before, next_at)
   where a.chain = $1 and a.address = u.address`,
);

export async function saveBalanceLooks(trx: Trx, chain: Chain, looks: readonly BalanceLook[]): Promise<void> {
  if (looks.length === 0) return;
  await trx.rows(updateLooks, [
    chain,
    looks.map(({ address }) => address),
    looks.map(({ height }) => height),
    looks.map(({ knownUntil }) => knownUntil),
    looks.map(({ before }) => before),
    looks.map(({ nextAt }) => nextAt),
  ]);
}

const updateBalancesHeight = statement(
  'cursors_balances_height',
  `update cursors set balances_height = $2 where chain = $1`,
);

/** Every balance whose turn it was has been looked at; there is nothing new before the next block. */
export async function markBalancesSeen(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(updateBalancesHeight, [chain, height]);
}
