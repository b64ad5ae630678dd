import type { Block, ChainReader } from '@quittance/chains/chain';
import type { Ports, WatchedChain } from '../ports.ts';
import { firstInvoiceAt } from '../store/cursors.ts';

/** Blocks carry their maker's clock, which need not be ours: on Bitcoin it may be off by two hours. */
const CLOCKS_APART_MS = 130 * 60_000;

/**
 * The block from which a chain is followed that was never followed before: where the node is now, or before
 * the first invoice when some were made while it could not be asked.
 */
export async function startHeightOf(
  { db }: Pick<Ports, 'db'>,
  { reader, chain, startHeight }: WatchedChain,
): Promise<number> {
  if (startHeight !== undefined) return startHeight;
  // In this order: an invoice made after the head was read can only be paid in a later block.
  const head = await reader.head();
  const first = await firstInvoiceAt(db, chain);
  if (first === undefined) return head.height;
  return await lastBlockBefore(reader, new Date(first.getTime() - CLOCKS_APART_MS), head.height);
}

/**
 * By halving: block times never go back. The first block when all are later, and just below the first that the
 * node still has when it has thrown older ones away.
 */
async function lastBlockBefore(reader: ChainReader, time: Date, height: number): Promise<number> {
  let low = 0;
  let high = height;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const block = await blockFrom(reader, middle);
    if (block === undefined) low = middle;
    else if (block.time < time) low = block.height;
    else high = middle - 1;
  }
  return low;
}

/** The first block at `height` or, where heights have gaps, above; undefined when the node has pruned it. */
async function blockFrom(reader: ChainReader, height: number): Promise<Block | undefined> {
  try {
    return (await reader.block(height)) ?? (await reader.blocksAfter(height, 1))[0];
  } catch {
    // A node that is away throws here as well.
    await reader.head();
    return undefined;
  }
}

/** The block to begin with: the first that the node has from there on. */
export async function firstBlockFrom(reader: ChainReader, height: number): Promise<Block> {
  const block = (await blockFrom(reader, height)) ?? (await reader.blocksAfter(height, 1))[0];
  if (block === undefined) throw new Error(`the node does not have block ${height}, where to begin`);
  return block;
}
