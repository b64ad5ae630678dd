import type { Block, Head } from '@quittance/chains/chain';
import { type ChainKind, chainKinds } from '@quittance/shared/assets';
import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { earlier } from '../domain/deposit.ts';
import { outageEnding } from '../domain/expiry-extension.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { setGivenHeight } from '../store/addresses.ts';
import {
  blocksBelow,
  type Cursor,
  findCursor,
  insertCursor,
  type KnownBlock,
  saveBlocks,
  saveSynced,
} from '../store/cursors.ts';
import { syncStateOf } from '../store/expiry-extensions.ts';
import { applyBlocks, BLOCKS_KEPT, type ChainPorts } from './apply-blocks.ts';
import { extendExpiry } from './extend-expiry.ts';
import { firstBlockFrom, startHeightOf } from './start-height.ts';

/** Blocks a step takes at most: after a long downtime it goes on in the next. Those of Bitcoin are of 20 MB each. */
const BATCH = { bitcoin: 4, evm: 16, solana: 16 } as const satisfies Record<ChainKind, number>;
/** Blocks of a new branch that are taken in together with the old one's leaving. */
const BRANCH_MAX = 64;
/** Hashes from before the first block that is scanned, in case the chain parts below it. */
const BLOCKS_BEFORE_START = 64;

export type ScanPorts = ChainPorts & Pick<Ports, 'logger'>;

/**
 * How many blocks a step took, and whether the node's head was reached: as it was when the step began. At the head there
 * may be time for blocks that somebody wants to be read once more.
 */
export type Scanned = { taken: number; isAtHead: boolean; isRescanAsked?: boolean };

/**
 * One step along the chain, by the holder of the lease: the next blocks one by one, or back to where the
 * chain parted and along its new branch.
 */
export async function scanChain(ports: ScanPorts, watched: WatchedChain, lease: Lease): Promise<Scanned> {
  const { reader, chain } = watched;
  const found = await findCursor(ports.db, chain);
  const cursor = found ?? (await startCursor(ports, watched, lease));
  const isRescanAsked = found?.isRescanAsked ?? false;
  const head = await reader.head();
  // A node that has lost blocks will find them again; nothing that was read is undone for it.
  if (head.height < cursor.height) return { taken: 0, isAtHead: false };
  if (head.hash === cursor.hash) {
    return { taken: 0, isAtHead: !isStale(watched, head, ports.clock.now()), isRescanAsked };
  }
  if (head.height === cursor.height) return await handleReorg(ports, watched, lease, cursor);
  const blocks = await blocksAfter(watched, cursor.height, BATCH[chainKinds[chain]]);
  crashPoint('invoices.blocks_read');
  let at: KnownBlock = cursor;
  let taken = 0;
  for (const block of blocks) {
    if (block.parentHash !== at.hash) {
      // A branch that changed while it was read is found by the next step, from its own start.
      if (at === cursor) return await handleReorg(ports, watched, lease, cursor);
      return { taken, isAtHead: false };
    }
    await applyBlocks(ports, { watched, lease, from: at, base: at, blocks: [block] });
    at = block;
    taken += 1;
  }
  const isAtHead = at.height >= head.height && !isStale(watched, at, ports.clock.now());
  return { taken, isAtHead, isRescanAsked };
}

async function blocksAfter({ reader }: WatchedChain, height: number, limit: number): Promise<Block[]> {
  const blocks = await reader.blocksAfter(height, limit);
  // What left an address is of use only to explain its balance.
  return reader.balances === undefined ? blocks.map((block) => ({ ...block, spends: [] })) : blocks;
}

/** A head so old, on a public chain, is that of a node that lags. */
const isStale = ({ staleMs }: WatchedChain, { time }: Pick<Head, 'time'>, now: Date): boolean =>
  staleMs !== undefined && now.getTime() - time.getTime() > staleMs;

/** Nothing before the first block concerns us: no address had been given out. */
async function startCursor(
  ports: Pick<ScanPorts, 'db' | 'clock' | 'logger'>,
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
  crashPoint('invoices.chain_started');
  ports.logger.info({ chain, height }, 'the chain is followed from here');
  return cursor;
}

/** Goes back to the last block that both branches have, and from there along the new one. */
async function handleReorg(
  ports: ScanPorts,
  watched: WatchedChain,
  lease: Lease,
  cursor: Cursor,
): Promise<Scanned> {
  const { chain } = watched;
  const base = await commonBlock(ports, watched, cursor);
  const blocks = await blocksAfter(watched, base.height, BRANCH_MAX);
  crashPoint('invoices.branch_read');
  const [first] = blocks;
  const last = blocks.at(-1);
  const linked = blocks.every((block, i) => i === 0 || block.parentHash === blocks[i - 1]?.hash);
  // The chain went on changing under our reading: nothing is decided, the next step looks again.
  if (first === undefined || last === undefined || first.parentHash !== base.hash || !linked) {
    return { taken: 0, isAtHead: false };
  }
  // The node names a head this high, and has not shown all of its branch yet: payments that it mines again in the
  // rest of it would be told to be gone, and come back with the next step.
  if (blocks.length < BRANCH_MAX && last.height < cursor.height) return { taken: 0, isAtHead: false };
  ports.logger.warn(
    { chain, from: cursor.height, back_to: base.height, blocks: blocks.length },
    'the chain was reorganised, following its new branch',
  );
  await applyBlocks(ports, { watched, lease, from: cursor, base, blocks });
  return { taken: blocks.length, isAtHead: false };
}

async function commonBlock(
  { db }: Pick<ScanPorts, 'db'>,
  { chain, reader }: WatchedChain,
  cursor: Cursor,
): Promise<KnownBlock> {
  for (const block of await blocksBelow(db, chain, cursor.height, BLOCKS_KEPT)) {
    if ((await reader.hashAt(block.height)) === block.hash) return block;
  }
  throw new Error(
    `no block of the last ${BLOCKS_KEPT} is in the ${chain} node’s chain: it is another chain, or was begun anew`,
  );
}

/**
 * The node's head was reached by a step that began `at`: what is known of payments grows up to then. If that took
 * long, the invoices are given the time first in which nobody could see their payments; until then none expires.
 */
export async function markSynced(
  ports: ChainPorts & Pick<Ports, 'logger'>,
  watched: Pick<WatchedChain, 'chain' | 'quietMs' | 'outageMs' | 'lateMs' | 'gapMs'>,
  lease: Lease,
  at: Date,
): Promise<void> {
  const { chain, quietMs } = watched;
  // A node that hung answers late: up to now nothing was seen.
  const outage = outageEnding(await syncStateOf(ports.db, chain), ports.clock.now(), watched);
  if (outage !== undefined) {
    const extended = await extendExpiry(ports, chain, lease, outage);
    if (extended > 0) ports.logger.warn({ chain, ...outage, invoices: extended }, 'the chain is seen again');
  }
  crashPoint('invoices.synced');
  const quietUntil = quietMs === undefined ? null : new Date(at.getTime() - quietMs);
  await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    // While time was given back the chain was seen: what that took is no outage of its own.
    await saveSynced(trx, chain, { at, seenAt: ports.clock.now(), quietUntil });
  });
}
