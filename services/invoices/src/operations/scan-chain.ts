import type { Block, ChainReader, Head } from '@quittance/chains/chain';
import { RpcRefused } from '@quittance/chains/json-rpc';
import { type ChainKind, chainKinds } from '@quittance/shared/assets';
import type { Queryable } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { earlier } from '../domain/deposit.ts';
import { outageEnding } from '../domain/expiry-extension.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { setGivenHeight } from '../store/addresses.ts';
import {
  blocksBelow,
  type Cursor,
  findCursor,
  firstInvoiceAt,
  insertCursor,
  type KnownBlock,
  saveBlocks,
  saveSynced,
} from '../store/cursors.ts';
import { syncStateOf } from '../store/expiry-extensions.ts';
import { applyBlocks, BLOCKS_KEPT, type BlockPorts, haveParents } from './apply-blocks.ts';
import { extendExpiry } from './expire-invoices.ts';
import { addressesIn } from './record-payments.ts';

/** Blocks per step. A Bitcoin block has up to 20 MB of JSON. */
const BATCH = { bitcoin: 4, evm: 16, solana: 16 } as const satisfies Record<ChainKind, number>;
/** Blocks of a new branch that are applied in the transaction that drops the old one. */
const BRANCH_MAX = 64;
/** Hashes stored from before the first block, in case of a reorganisation below it. */
const BLOCKS_BEFORE_START = 64;
/** Blocks carry their miner's clock: on Bitcoin it may differ by two hours. */
const CLOCKS_APART_MS = 130 * 60_000;

/** How many blocks a step applied, and whether it reached the head that the node had at its start. */
export type Scanned = { taken: number; isAtHead: boolean; isRescanAsked?: boolean };

/**
 * One step of the scanner, by the holder of the lease: applies the next blocks, or handles a reorganisation. Before anything
 * is concluded from a head that is not the applied one, the node is asked for its network: another one may answer there since.
 */
export async function scanChain(ports: BlockPorts, watched: WatchedChain, lease: Lease): Promise<Scanned> {
  const { reader, chain } = watched;
  const found = await findCursor(ports.db, chain);
  const cursor = found ?? (await startCursor(ports, watched, lease));
  const isRescanAsked = found?.isRescanAsked ?? false;
  const head = await reader.head();
  // A node that has lost blocks will load them again: nothing is dropped for it.
  if (head.height < cursor.height) {
    await watched.network.check('network');
    return { taken: 0, isAtHead: false };
  }
  if (head.hash === cursor.hash) {
    return { taken: 0, isAtHead: !isStale(watched, head, ports.clock.now()), isRescanAsked };
  }
  if (head.height === cursor.height) {
    await watched.network.check('network');
    return await handleReorg(ports, watched, lease, cursor);
  }
  // No more than there are: every block that is asked for and not there yet is a question to the node.
  const limit = Math.min(BATCH[chainKinds[chain]], head.height - cursor.height);
  const blocks = await blocksAfter(watched, cursor.height, limit);
  await watched.network.check('network');
  failpoint('invoices.blocks_read');
  let at: KnownBlock = cursor;
  let taken = 0;
  for (const together of await groupsOf(ports.db, watched, blocks)) {
    const linked = together.slice(0, linkedFrom(at, together));
    const last = linked.at(-1);
    if (last !== undefined) {
      await applyBlocks(ports, { watched, lease, from: at, base: at, blocks: linked });
      at = last;
      taken += linked.length;
    }
    if (linked.length === together.length) continue;
    // A branch that changed during the read is handled by the next step.
    return taken === 0 ? await handleReorg(ports, watched, lease, cursor) : { taken, isAtHead: false };
  }
  const isAtHead = at.height >= head.height && !isStale(watched, at, ports.clock.now());
  return { taken, isAtHead, isRescanAsked };
}

async function blocksAfter({ reader }: WatchedChain, height: number, limit: number): Promise<Block[]> {
  const blocks = await reader.blocksAfter(height, limit);
  // Transfers out of an address are needed only to explain balances.
  return reader.balances === undefined ? blocks.map((block) => ({ ...block, spends: [] })) : blocks;
}

/**
 * Blocks that are applied in one transaction: as many as have nothing for us, and the next one that may have. A chain
 * with a block every 400 ms would otherwise cost a transaction each, also while thousands are caught up on.
 */
async function groupsOf(
  db: Queryable,
  { filter }: WatchedChain,
  blocks: readonly Block[],
): Promise<Block[][]> {
  const addresses = addressesIn(blocks);
  const ours = new Set(addresses.length === 0 ? [] : await filter.among(db, addresses));
  const groups: Block[][] = [[]];
  for (const block of blocks) {
    groups.at(-1)?.push(block);
    if (addressesIn([block]).some((address) => ours.has(address))) groups.push([]);
  }
  return groups.filter(({ length }) => length > 0);
}

/** How many of the blocks follow each other from `base` on. */
function linkedFrom(base: KnownBlock, blocks: readonly Block[]): number {
  const broken = blocks.findIndex((block, i) => block.parentHash !== (blocks[i - 1] ?? base).hash);
  return broken === -1 ? blocks.length : broken;
}

/** Such an old head on a public chain means that the node lags. */
const isStale = ({ staleMs }: WatchedChain, { time }: Pick<Head, 'time'>, now: Date): boolean =>
  staleMs !== undefined && now.getTime() - time.getTime() > staleMs;

/** Starts to scan a chain. Blocks before the first one cannot pay us: no address had been given out. */
async function startCursor(
  ports: Pick<BlockPorts, 'db' | 'clock' | 'logger'>,
  watched: WatchedChain,
  lease: Lease,
): Promise<Cursor> {
  const { reader, chain } = watched;
  const block = await firstBlockFrom(reader, await startHeightOf(ports, watched));
  const { height } = block;
  const before: KnownBlock[] = [];
  for (let h = Math.max(0, height - BLOCKS_BEFORE_START); h < height; h++) {
    const hash = await reader.hashAt(h);
    if (hash !== undefined) before.push({ height: h, hash, time: block.time });
  }
  const knownUntil = earlier(block.time, ports.clock.now());
  const cursor: Cursor = { height, hash: block.hash, time: block.time, knownUntil };
  await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await saveBlocks(trx, chain, [...before, block]);
    await insertCursor(trx, chain, cursor);
    await setGivenHeight(trx, chain, height);
  });
  failpoint('invoices.chain_started');
  ports.logger.info({ chain, height }, 'the chain is scanned from this height');
  return cursor;
}

/**
 * The height at which a chain is scanned first: the node's head, or a block before the first invoice when invoices
 * were created while the node was down.
 */
async function startHeightOf(
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
async function firstBlockFrom(reader: ChainReader, height: number): Promise<Block> {
  const block = (await blockFrom(reader, height)) ?? (await reader.blocksAfter(height, 1))[0];
  if (block === undefined) throw new Error(`the node does not have block ${height}, the start height`);
  return block;
}

/** Handles a reorganisation: drops the blocks after the last common block and applies the new branch. */
async function handleReorg(
  ports: BlockPorts,
  watched: WatchedChain,
  lease: Lease,
  cursor: Cursor,
): Promise<Scanned> {
  const { chain } = watched;
  const base = await commonBlock(ports, watched, cursor);
  const blocks = await blocksAfter(watched, base.height, BRANCH_MAX);
  await watched.network.check('network');
  failpoint('invoices.branch_read');
  const last = blocks.at(-1);
  // The chain changed during the read: the next step tries again.
  if (last === undefined || !haveParents(base, blocks)) return { taken: 0, isAtHead: false };
  // The node has not shown its whole branch yet. Payments in the rest of it would be reported as reversed, and come
  // back with the next step.
  if (blocks.length < BRANCH_MAX && last.height < cursor.height) return { taken: 0, isAtHead: false };
  ports.logger.warn(
    { chain, from: cursor.height, back_to: base.height, blocks: blocks.length },
    'the chain was reorganised: the new branch is applied',
  );
  await applyBlocks(ports, { watched, lease, from: cursor, base, blocks });
  return { taken: blocks.length, isAtHead: false };
}

async function commonBlock(
  { db }: Pick<BlockPorts, 'db'>,
  { chain, reader }: WatchedChain,
  cursor: Cursor,
): Promise<KnownBlock> {
  for (const block of await blocksBelow(db, chain, cursor.height, BLOCKS_KEPT)) {
    if ((await reader.hashAt(block.height)) === block.hash) return block;
  }
  throw new Error(
    `no block of the last ${BLOCKS_KEPT} is in the ${chain} node’s chain: it is another chain, or was reset`,
  );
}

/**
 * Marks the chain as synced by a step that began `at`: all payments until then are known. After an outage, the expiry
 * of invoices is extended first; until then none expires.
 */
export async function markSynced(
  ports: BlockPorts,
  watched: Pick<WatchedChain, 'chain' | 'quietMs' | 'outageMs' | 'lateMs' | 'gapMs'>,
  lease: Lease,
  at: Date,
): Promise<void> {
  const { chain, quietMs } = watched;
  // A node that hung answers late: the outage lasts until now.
  const outage = outageEnding(await syncStateOf(ports.db, chain), ports.clock.now(), watched);
  if (outage !== undefined) {
    const extended = await extendExpiry(ports, chain, lease, outage);
    if (extended > 0)
      ports.logger.warn(
        { chain, ...outage, invoices: extended },
        'the chain is synced again: the expiry of its invoices was extended',
      );
  }
  failpoint('invoices.synced');
  const quietUntil = quietMs === undefined ? null : new Date(at.getTime() - quietMs);
  await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    // The time that the extension took is no outage of its own.
    await saveSynced(trx, chain, { at, seenAt: ports.clock.now(), quietUntil });
  });
}
