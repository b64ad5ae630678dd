import type { AssetSymbol } from '@quittance/shared/assets';
import { z } from 'zod';
import type { Block, ChainReader, Head, PendingLook, PendingWatch } from '../chain.ts';
import { ask, type Numbers, type Rpc, RpcUnavailable } from '../json-rpc.ts';
import { balanceChanges, blockTransaction, Imprecise } from './balance-changes.ts';
import { checkNetwork, type SolanaNetwork, tokensOf } from './network.ts';
import { base58, blockAt, type Commitment, slotAt, slotsFrom } from './rpc.ts';

/** While catching up; blocks are megabytes. */
const TOGETHER = 4;
/** Of blocks that are confirmed and not finalized there are some 32; more are left for the next look. */
const PENDING_BLOCKS_MAX = 64;
/** Before Solana's first block. One development node gives thousands of seconds where seconds are due (seen). */
const EARLIEST_S = Date.UTC(2020, 2, 16) / 1000;

const header = z.object({
  blockhash: base58,
  previousBlockhash: base58,
  blockTime: z.number().nullable(),
});
const fullBlock = header.extend({ transactions: z.array(blockTransaction) });

/**
 * The node, and the tokens of the network by mint. `confirmed` holds the blocks that were read before they were finalized, by
 * slot: blocks are megabytes, and the hash says whether the finalized one is the same.
 */
type Source = { rpc: Rpc; tokens: ReadonlyMap<string, AssetSymbol>; confirmed: Map<number, Block> };
/** More are not kept where nobody reads the finalized ones: they are read again. */
const CONFIRMED_KEPT = 2 * PENDING_BLOCKS_MAX;

/**
 * Reads Solana from a node's JSON-RPC: the chain is its finalized blocks, which no reorganisation takes back, and
 * a block's height is its slot. It knows no key.
 */
export function createSolanaReader({ rpc, network }: { rpc: Rpc; network: SolanaNetwork }): ChainReader {
  const source: Source = { rpc, tokens: tokensOf(network), confirmed: new Map() };
  const headerAt = (slot: number) => blockAt(rpc, header, slot, { transactionDetails: 'none' });

  return {
    chain: 'solana',

    check: (of) => checkNetwork(rpc, network, of),

    async head(): Promise<Head> {
      const height = await slotAt(rpc, 'finalized');
      const found = await headerAt(height);
      if (found === null) throw new RpcUnavailable('getBlock', 'the node has no finalized block yet');
      return { height, hash: found.blockhash, time: await timeOf(rpc, height, found.blockTime) };
    },

    async block(height) {
      if (height > (await slotAt(rpc, 'finalized'))) return undefined;
      return await readBlock(source, height, 'finalized');
    },

    async blocksAfter(height, limit) {
      const after: Block[] = [];
      for (const slot of source.confirmed.keys()) if (slot <= height) source.confirmed.delete(slot);
      const finalized = await slotAt(rpc, 'finalized');
      const wanted = await slotsFrom(rpc, height + 1, limit, 'finalized');
      const final = wanted.filter((slot) => slot <= finalized);
      for await (const next of readBlocks(final, (slot) => finalizedBlock(source, slot))) {
        const last = after.at(-1);
        // A node behind a balancer that names too few slots leaves a hole here.
        if (last !== undefined && next.parentHash !== last.hash) return after;
        after.push(next);
      }
      return after;
    },

    async hashAt(height) {
      if (height > (await slotAt(rpc, 'finalized'))) return undefined;
      return (await headerAt(height))?.blockhash;
    },

    watchPending: () => pendingWatch(source),

    close: () => rpc.close(),
  };
}

/** The block that has become final; only its header is asked for where the whole was read before. */
async function finalizedBlock(source: Source, slot: number): Promise<Block | undefined> {
  const { rpc, confirmed } = source;
  const read = confirmed.get(slot);
  const found = read && (await blockAt(rpc, header, slot, { transactionDetails: 'none' }));
  if (read === undefined || found?.blockhash !== read.hash) return await readBlock(source, slot, 'finalized');
  return {
    ...read,
    parentHash: found.previousBlockhash,
    time: await timeOf(rpc, slot, found.blockTime),
  };
}

async function readBlock(
  { rpc, tokens }: Pick<Source, 'rpc' | 'tokens'>,
  slot: number,
  commitment: Commitment,
  numbers: Numbers = 'doubles',
): Promise<Block | undefined> {
  const details = { transactionDetails: 'accounts', commitment, numbers } as const;
  const found = await blockAt(rpc, fullBlock, slot, details);
  if (found === null) return undefined;
  try {
    return {
      height: slot,
      hash: found.blockhash,
      parentHash: found.previousBlockhash,
      ...balanceChanges(found.transactions, tokens),
      time: await timeOf(rpc, slot, found.blockTime),
    };
  } catch (error) {
    // Exact numbers take ten times as long to read, and one block in many holds any that are too long.
    if (error instanceof Imprecise && numbers === 'doubles')
      return await readBlock({ rpc, tokens }, slot, commitment, 'exact');
    throw error;
  }
}

/** The node has named these blocks: when it does not give one, that proves nothing of its payments. */
async function* readBlocks(slots: readonly number[], read: (slot: number) => Promise<Block | undefined>) {
  for (let start = 0; start < slots.length; start += TOGETHER) {
    const some = slots.slice(start, start + TOGETHER);
    const found = await Promise.all(some.map(read));
    for (const [i, block] of found.entries()) {
      if (block === undefined)
        throw new RpcUnavailable('getBlock', `no block at slot ${some[i]}, which getBlocks named`);
      yield block;
    }
  }
}

/** A block with no time of its own gets the one the node estimates. */
async function timeOf(rpc: Rpc, slot: number, blockTime: number | null): Promise<Date> {
  const isTime = blockTime !== null && blockTime >= EARLIEST_S;
  const seconds = isTime ? blockTime : await ask(rpc, z.number().min(EARLIEST_S), 'getBlockTime', [slot]);
  return new Date(seconds * 1000);
}

/**
 * Blocks that are voted for: some thirteen seconds later they are finalized, or, hardly ever, dropped. A node behind a
 * balancer that is not as far as the one before does not name the newest, which proves nothing: a block waits until one
 * at its slot or above is finalized, or others take its place.
 */
function pendingWatch(source: Source): PendingWatch {
  const { rpc } = source;
  let seen = new Map<number, Block>();

  return {
    async look(): Promise<PendingLook> {
      const finalized = await slotAt(rpc, 'finalized');
      const waiting = await slotsFrom(rpc, finalized + 1, PENDING_BLOCKS_MAX, 'confirmed');
      const fresh: Block[] = [];
      const unseen = waiting.filter((slot) => !seen.has(slot));
      for await (const block of readBlocks(unseen, (slot) => readBlock(source, slot, 'confirmed')))
        fresh.push(block);
      const known = new Map([...seen, ...fresh.map((block) => [block.height, block] as const)]);
      const { dropped, uncertain } = offChain(known, waiting.at(-1));
      for (const slot of dropped) known.delete(slot);
      if (uncertain !== undefined) {
        const now = await readBlock(source, uncertain.height, 'confirmed');
        if (now === undefined) known.delete(uncertain.height);
        else if (now.hash !== uncertain.hash) {
          known.set(now.height, now);
          fresh.push(now);
        }
      }
      const height = await slotAt(rpc, 'finalized');
      for (const slot of [...known.keys()]) if (slot <= height && seen.has(slot)) known.delete(slot);
      // Only now: what a look that failed half-way had read must be fresh to the next one.
      seen = known;
      keep(source.confirmed, fresh);
      const transactions = new Set(
        [...seen.values()].flatMap(({ payments }) => payments.map(({ txHash }) => txHash)),
      );
      return {
        fresh: fresh.flatMap(({ payments }) => payments),
        has: (txHash) => transactions.has(txHash),
        height,
      };
    },
  };
}

function keep(confirmed: Map<number, Block>, fresh: readonly Block[]): void {
  for (const block of fresh) confirmed.set(block.height, block);
  const slots = [...confirmed.keys()].sort((a, b) => a - b);
  for (const slot of slots.slice(0, -CONFIRMED_KEPT)) confirmed.delete(slot);
}

/**
 * The slots of blocks that the chain up to a block passes by; and the highest block that it may pass by, where its
 * blocks are not known any further down.
 */
function offChain(known: ReadonlyMap<number, Block>, tip: number | undefined) {
  const dropped: number[] = [];
  let skipped: Block[] = [];
  let child = tip === undefined ? undefined : known.get(tip);
  if (tip === undefined || child === undefined) return { dropped, uncertain: undefined };
  const below = [...known.values()].filter(({ height }) => height < tip);
  for (const block of below.toSorted((a, b) => b.height - a.height)) {
    if (block.hash === child.parentHash) {
      dropped.push(...skipped.map(({ height }) => height));
      skipped = [];
      child = block;
    } else skipped.push(block);
  }
  return { dropped, uncertain: skipped[0] };
}
