import type { NativeDebit } from '@quittance/chains/chain';
import type { Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import { isRescanOpen } from './rescans.ts';

/** The last applied block of a chain. */
export type Cursor = {
  height: number;
  hash: string;
  time: Date;
  /** All payments up to this time are known. */
  knownUntil: Date;
};

type FoundCursor = Cursor & { isRescanAsked: boolean };

const selectCursor = query<FoundCursor>(
  'cursors_select',
  `select height, hash, time, known_until, ${isRescanOpen('cursors')} as is_rescan_asked
   from cursors where chain = $1`,
);

/** `isRescanAsked`: an operator requested a rescan. */
export const findCursor = (db: Queryable, chain: Chain): Promise<FoundCursor | undefined> =>
  db.maybe(selectCursor, [chain]);

const lockCursorRow = query<Cursor>(
  'cursors_lock',
  `select height, hash, time, known_until from cursors where chain = $1 for update`,
);

export const lockCursor = (trx: Trx, chain: Chain): Promise<Cursor> => trx.one(lockCursorRow, [chain]);

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
  'cursors_synced',
  `update cursors set synced_at = $3, known_until = greatest(known_until, least(time, $2), $4) where chain = $1`,
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

const selectFirstInvoice = query<{ first: Date | null }>(
  'invoices_first_of_chain',
  `select min(created_at) as first from invoices where chain = $1`,
);

/** When the first invoice on this chain was created; undefined without one. */
export async function firstInvoiceAt(db: Queryable, chain: Chain): Promise<Date | undefined> {
  return (await db.one(selectFirstInvoice, [chain])).first ?? undefined;
}

export type KnownBlock = { height: number; hash: string; time: Date };

const newBlocks = bulk({ height: 'int', hash: 'text', time: 'timestamptz' });

const insertBlocks = statement(
  'blocks_insert',
  `insert into blocks (height, hash, time, chain) select given.*, $4 from ${newBlocks.from('given')}`,
);

export async function saveBlocks(trx: Trx, chain: Chain, blocks: readonly KnownBlock[]): Promise<void> {
  await trx.rows(insertBlocks, [...newBlocks.values(blocks), chain]);
}

const deleteBlocksBelow = statement('blocks_prune', `delete from blocks where chain = $1 and height < $2`);

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

const selectBlocksBelow = query<KnownBlock>(
  'blocks_below',
  `select height, hash, time from blocks where chain = $1 and height < $2 order by height desc limit $3`,
);

/** Stored blocks below `height`, the highest first. */
export const blocksBelow = (
  db: Queryable,
  chain: Chain,
  height: number,
  limit: number,
): Promise<KnownBlock[]> => db.rows(selectBlocksBelow, [chain, height, limit]);

const selectBlock = query<KnownBlock>(
  'blocks_select',
  `select height, hash, time from blocks where chain = $1 and height = $2`,
);

export const findBlock = (db: Queryable, chain: Chain, height: number): Promise<KnownBlock | undefined> =>
  db.maybe(selectBlock, [chain, height]);

const selectKnown = query<KnownBlock>(
  'blocks_between',
  `select height, hash, time from blocks where chain = $1 and height between $2 and $3`,
);
const selectLowest = query<{ lowest: number | null }>(
  'blocks_lowest',
  `select min(height) as lowest from blocks where chain = $1`,
);

/** The stored blocks of these heights, and the lowest stored height. */
export async function knownBlocksBetween(
  db: Queryable,
  chain: Chain,
  low: number,
  high: number,
): Promise<{ blocks: KnownBlock[]; lowest: number | null }> {
  const blocks = await db.rows(selectKnown, [chain, low, high]);
  return { blocks, ...(await db.one(selectLowest, [chain])) };
}

const newSpends = bulk({ address: 'text', txHash: 'text', amount: 'numeric', height: 'int' });

const insertSpendRows = query<Pick<NativeDebit, 'address' | 'txHash'>>(
  'spends_insert',
  `insert into spends (address, tx_hash, amount, block_height, chain)
   select given.*, $5 from ${newSpends.from('given')}
   on conflict on constraint spends_once do nothing
   returning address, tx_hash`,
);

/** @returns the new ones; a known transfer is not saved again */
export async function saveSpends(
  trx: Trx,
  chain: Chain,
  spends: readonly (NativeDebit & { height: number })[],
): Promise<Pick<NativeDebit, 'address' | 'txHash'>[]> {
  return spends.length === 0 ? [] : await trx.rows(insertSpendRows, [...newSpends.values(spends), chain]);
}
