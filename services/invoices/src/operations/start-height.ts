import type { Block, ChainReader } from '@quittance/chains/chain';
import { RpcRefused } from '@quittance/chains/json-rpc';
import type { Ports, WatchedChain } from '../ports.ts';
import { firstInvoiceAt } from '../store/cursors.ts';

/** Blocks carry their miner's clock: on Bitcoin it may differ by two hours. */
const CLOCKS_APART_MS = 130 * 60_000;

/**
 * The height at which a chain is scanned first: the node's head, or a block before the first invoice when invoices
 * were created while the node was down.
 */
export async function startHeightOf(
  { db }: Pick<Ports, 'db'>,
  { reader, chain, startHeight }: WatchedChain,
): Promise<number> {
  if (startHeight !== undefined) return startHeight;
  // In this order: an invoice that is created after this request can only be paid in a later block.
  const head = await reader.head();
  const first = await firstInvoiceAt(db, chain);
  if (first === undefined) return head.height;
  return await lastBlockBefore(reader, new Date(first.getTime() - CLOCKS_APART_MS), head.height);
}

/**
 * Binary search: block times never go back. Returns 0 when all blocks are later, and the last pruned height when the
 * node has pruned the block.
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

/** The block at `height`, or the next one where heights have gaps. Undefined when the node has pruned it. */
async function blockFrom(reader: ChainReader, height: number): Promise<Block | undefined> {
  try {
    return (await reader.block(height)) ?? (await reader.blocksAfter(height, 1))[0];
  } catch (error) {
    // Only a node that answers and refuses has pruned the block.
    if (!(error instanceof RpcRefused)) throw error;
    await reader.head();
    return undefined;
  }
}

/** The first block that the node has at `height` or above. */
export async function firstBlockFrom(reader: ChainReader, height: number): Promise<Block> {
  const block = (await blockFrom(reader, height)) ?? (await reader.blocksAfter(height, 1))[0];
  if (block === undefined) throw new Error(`the node does not have block ${height}, the start height`);
  return block;
}
