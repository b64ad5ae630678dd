import type { NativeDebit } from '@quittance/chains/chain';
import type { Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import { isRescanOpen } from './rescans.ts';

/** The last applied block of a chain. */
export type Cursor = {
  height: number;
  hash: string;
  time: Date;
  /** All payments up to this time are known. */
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
  `select height, hash, time, known_until, ${isRescanOpen('cursors')} as rescan_asked
   from cursors where chain = $1`,
);

/** `isRescanAsked`: an operator requested a rescan. */
export async function findCursor(
  db: Queryable,
  chain: Chain,
): Promise<(Cursor & { isRescanAsked: boolean }) | undefined> {
  const row = await db.maybe<CursorRow & { rescan_asked: boolean }>(selectCursor, [chain]);
  return row && { ...toCursor(row), isRescanAsked: row.rescan_asked };
}

const lockCursorRow = statement(
  'cursors_lock',
  `select height, hash, time, known_until from cursors where chain = $1 for update`,
);

export async function lockCursor(trx: Trx, chain: Chain): Promise<Cursor> {
  return toCursor(await trx.one<CursorRow>(lockCursorRow, [chain]));
}

const insertCursorRow = statement(
  'cursors_insert',
  `insert into cursors (chain, height, hash, time, known_until) values ($1, $2, $3, $4, $5)`,
);

export async function insertCursor(trx: Trx, chain: Chain, cursor: Cursor): Promise<void> {
  await trx.rows(insertCursorRow, [chain, cursor.height, cursor.hash, cursor.time, cursor.knownUntil]);
}

const updateCursor = statement(
  'cursors_update',
  `update cursors set height = $2, hash = $3, time = $4 where chain = $1`,
);

/** `known_until` grows only when the chain is synced, see `saveSynced`. */
export async function moveCursor(trx: Trx, chain: Chain, { height, hash, time }: KnownBlock): Promise<void> {
  await trx.rows(updateCursor, [chain, height, hash, time]);
}

const updateSynced = statement(
  'cursors_caught_up',
  `update cursors set caught_up_at = $3, known_until = greatest(known_until, least(time, $2), $4) where chain = $1`,
);

/**
 * Marks the chain as synced by a step that began `at`: all payments before the head's time are known. `known_until`
 * never exceeds `at`, because blocks made by hand may carry a later time. On a development chain time also passes
 * without blocks.
 */
export async function saveSynced(
  trx: Trx,
  chain: Chain,
  { at, seenAt, quietUntil }: { at: Date; seenAt: Date; quietUntil: Date | null },
): Promise<void> {
  await trx.rows(updateSynced, [chain, at, seenAt, quietUntil]);
}

const selectFirstInvoice = statement(
  'invoices_first_of_chain',
  `select min(created_at) as first from invoices where chain = $1`,
);

/** When the first invoice on this chain was created; undefined without one. */
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

export async function saveBlocks(trx: Trx, chain: Chain, blocks: readonly KnownBlock[]): Promise<void> {
  await trx.rows(insertBlocks, [
    chain,
    blocks.map(({ height }) => height),
    blocks.map(({ hash }) => hash),
    blocks.map(({ time }) => time),
  ]);
}

const deleteBlocksBelow = statement('blocks_forget', `delete from blocks where chain = $1 and height < $2`);

export async function pruneBlocksBelow(trx: Trx, chain: Chain, height: number): Promise<void> {
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

/** Stored blocks below `height`, the highest first. */
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

const selectKnown = statement(
  'blocks_between',
  `select height, hash, time from blocks where chain = $1 and height between $2 and $3`,
);
const selectLowest = statement('blocks_lowest', `select min(height) as lowest from blocks where chain = $1`);

/** The stored blocks of these heights, and the lowest stored height. */
export async function knownBlocksBetween(
  db: Queryable,
  chain: Chain,
  low: number,
  high: number,
): Promise<{ blocks: KnownBlock[]; lowest: number | null }> {
  const blocks = await db.rows<KnownBlock>(selectKnown, [chain, low, high]);
  const { lowest } = await db.one<{ lowest: number | null }>(selectLowest, [chain]);
  return { blocks, lowest };
}

const insertSpendRows = statement(
  'spends_insert',
  `insert into spends (chain, address, tx_hash, amount, block_height)
   select $1, * from unnest($2::text[], $3::text[], $4::numeric[], $5::int[])
   on conflict on constraint spends_once do nothing
   returning address, tx_hash as "txHash"`,
);

/** @returns the new ones; a known transfer is not saved again */
export async function saveSpends(
  trx: Trx,
  chain: Chain,
  spends: readonly (NativeDebit & { height: number })[],
): Promise<Pick<NativeDebit, 'address' | 'txHash'>[]> {
  if (spends.length === 0) return [];
  return await trx.rows(insertSpendRows, [
    chain,
    spends.map(({ address }) => address),
    spends.map(({ txHash }) => txHash),
    spends.map(({ amount }) => amount),
    spends.map(({ height }) => height),
  ]);
}
