import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import type { Ports, WatchedChain } from '../ports.ts';
import {
  beginCursor,
  blocksBelow,
  type Cursor,
  dateAddresses,
  findCursor,
  type KnownBlock,
  markCaughtUp,
  rememberBlocks,
} from '../store-chain.ts';
import { BLOCKS_REMEMBERED, cursorAt, type MovingPorts, moveChain } from './move-chain.ts';
import { firstBlock, whereToBegin } from './where-to-begin.ts';

/** Blocks a step takes at most: after a long downtime it goes on in the next. */
const BATCH = 16;
/** Blocks of a new branch that are taken in together with the old one's leaving. */
const BRANCH_MAX = 64;
/** Hashes from before the first block that is scanned, in case the chain parts below it. */
const BLOCKS_BEFORE_START = 64;

export type ScanPorts = MovingPorts & Pick<Ports, 'logger'>;

/**
 * One step along the chain, by the holder of the lease: the next blocks one by one, or back to where the
 * chain parted and along its new branch.
 * @returns how many blocks were taken; 0 at the head, or when the node has nothing for us
 */
export async function scanChain(ports: ScanPorts, watched: WatchedChain, lease: Lease): Promise<number> {
  const { reader, chain } = watched;
  const startedAt = ports.clock.now();
  const cursor = (await findCursor(ports.db, chain)) ?? (await begin(ports, watched, lease));
  const head = await reader.head();
  // A node that has lost blocks will find them again; nothing that was read is undone for it.
  if (head.height < cursor.height) return 0;
  if (head.height === cursor.height) {
    if (head.hash !== cursor.hash) return await changeBranch(ports, watched, lease, cursor);
    await reachHead(ports, watched, lease, startedAt);
    return 0;
  }
  const blocks = await reader.blocksAfter(cursor.height, BATCH);
  crashPoint('invoices.blocks_read');
  let at: Cursor = cursor;
  let taken = 0;
  for (const block of blocks) {
    if (block.parentHash !== at.hash) {
      // A branch that changed while it was read is found by the next step, from its own start.
      return at === cursor ? await changeBranch(ports, watched, lease, cursor) : taken;
    }
    await moveChain(ports, { chain, lease, from: at, base: at, blocks: [block] });
    at = cursorAt(block, ports.clock.now());
    taken += 1;
  }
  return taken;
}

/** Nothing before the first block concerns us: no address had been given out. */
async function begin(
  ports: Pick<ScanPorts, 'db' | 'clock' | 'logger'>,
  watched: WatchedChain,
  lease: Lease,
): Promise<Cursor> {
  const { reader, chain } = watched;
  const block = await firstBlock(reader, await whereToBegin(ports, watched));
  const { height } = block;
  const before: KnownBlock[] = [];
  for (let h = Math.max(0, height - BLOCKS_BEFORE_START); h < height; h++) {
    const hash = await reader.hashAt(h);
    if (hash !== undefined) before.push({ height: h, hash, time: block.time });
  }
  const cursor = cursorAt(block, ports.clock.now());
  await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await rememberBlocks(trx, chain, [...before, block]);
    await beginCursor(trx, chain, cursor);
    await dateAddresses(trx, chain, height);
  });
  ports.logger.info({ chain, height }, 'the chain is followed from here');
  return cursor;
}

async function reachHead(
  { db }: Pick<ScanPorts, 'db'>,
  { chain, quietMs }: WatchedChain,
  lease: Lease,
  at: Date,
): Promise<void> {
  const quietUntil = quietMs === undefined ? null : new Date(at.getTime() - quietMs);
  await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await markCaughtUp(trx, chain, at, quietUntil);
  });
}

/** Goes back to the last block that both branches have, and from there along the new one. */
async function changeBranch(
  ports: ScanPorts,
  watched: WatchedChain,
  lease: Lease,
  cursor: Cursor,
): Promise<number> {
  const { chain } = watched;
  const base = await commonBlock(ports, watched, cursor);
  const blocks = await watched.reader.blocksAfter(base.height, BRANCH_MAX);
  crashPoint('invoices.branch_read');
  const [first] = blocks;
  const linked = blocks.every((block, i) => i === 0 || block.parentHash === blocks[i - 1]?.hash);
  // The chain went on changing under our reading: nothing is decided, the next step looks again.
  if (first === undefined || first.parentHash !== base.hash || !linked) return 0;
  ports.logger.warn(
    { chain, from: cursor.height, back_to: base.height, blocks: blocks.length },
    'the chain was reorganised, following its new branch',
  );
  await moveChain(ports, { chain, lease, from: cursor, base, blocks });
  return blocks.length;
}

async function commonBlock(
  { db }: Pick<ScanPorts, 'db'>,
  { chain, reader }: WatchedChain,
  cursor: Cursor,
): Promise<KnownBlock> {
  for (const block of await blocksBelow(db, chain, cursor.height, BLOCKS_REMEMBERED)) {
    if ((await reader.hashAt(block.height)) === block.hash) return block;
  }
  throw new Error(
    `no block of the last ${BLOCKS_REMEMBERED} is in the ${chain} node’s chain: it is another chain, or was begun anew`,
  );
}
