import { z } from 'zod';
import { type Rpc, RpcUnavailable } from '../json-rpc.ts';
import { base58, blockAt, count, slotsFrom } from './rpc.ts';

/** A transaction is valid for 150 blocks, and what is finalized is some 32 behind when it is signed. */
const SLOTS_AT_ONCE = 200;
const TOGETHER = 4;
/** Transactions of the same minute are searched for in the same blocks: as many as a search reads, and some more. */
const BLOCKS_KEPT = 300;
/** Of each signature in them, so that blocks of thousands take little room; no two begin with the same 128 bits. */
const SIGNATURE_KEPT = 22;

const block = z.object({
  blockhash: base58,
  previousBlockhash: base58,
  parentSlot: count,
  blockHeight: count,
  signatures: z.array(base58),
});
type Searched = Omit<z.infer<typeof block>, 'signatures'> & { slot: number; signatures: string };

/** The node has no status of a transaction and gives a block it is in: it was mined, and its end is not told. */
export class StatusMissing extends Error {
  constructor(txHash: string, slot: number) {
    super(`the node has no status of ${txHash}, which is in its block at slot ${slot}`);
    this.name = 'StatusMissing';
  }
}

/** Throws unless a transaction is in none of the blocks from a slot to the first above a height. */
type AssertNotIncluded = (txHash: string, fromSlot: number, lastHeight: number) => Promise<void>;

/**
 * Reads every finalized block from a slot to the first above a height, and throws unless they are one chain without a
 * hole and the transaction is in none of them: StatusMissing when it is in one. That a node has no status of a
 * transaction proves nothing by itself: one that was restarted from a snapshot has none of what came before.
 *
 * When a node took nothing for a while, hundreds of transactions have to be searched for at once, and each search reads
 * some two hundred blocks: those that were read are kept for the next one, because what is finalized stays as it is.
 *
 * One development node gives blocks without transactions their slot as their height (seen): there the search ends
 * sooner, and heights prove no chain.
 */
export function nonInclusionSearch(rpc: Rpc): AssertNotIncluded {
  const kept = new Map<number, Promise<Searched>>();

  function keptBlockAt(slot: number): Promise<Searched> {
    const known = kept.get(slot);
    if (known !== undefined) return known;
    const asked = searchedAt(rpc, slot);
    kept.set(slot, asked);
    asked.catch(() => kept.delete(slot));
    const [oldest] = kept.keys();
    if (kept.size > BLOCKS_KEPT && oldest !== undefined) kept.delete(oldest);
    return asked;
  }

  return async (txHash, fromSlot, lastHeight) => {
    const wantedSignature = txHash.slice(0, SIGNATURE_KEPT);
    let last: Searched | undefined;
    for (;;) {
      const wanted = await slotsFrom(
        rpc,
        last === undefined ? fromSlot : last.slot + 1,
        SLOTS_AT_ONCE,
        'finalized',
      );
      if (wanted.length === 0) {
        throw new RpcUnavailable('getBlocksWithLimit', `no finalized block above the height ${lastHeight}`);
      }
      for (let start = 0; start < wanted.length; start += TOGETHER) {
        const some = wanted.slice(start, start + TOGETHER);
        for (const next of await Promise.all(some.map(keptBlockAt))) {
          if (next.signatures.includes(wantedSignature)) throw new StatusMissing(txHash, next.slot);
          if (!(last === undefined ? isFirst(next, fromSlot) : follows(next, last))) {
            // Whichever of them is wrong is read again.
            kept.clear();
            throw new RpcUnavailable('getBlock', `a block is missing before the one at slot ${next.slot}`);
          }
          if (next.blockHeight > lastHeight) return;
          last = next;
        }
      }
    }
  };
}

/** Whether no block can lie between a slot and this one. */
const isFirst = ({ slot, parentSlot }: Searched, fromSlot: number): boolean =>
  slot === fromSlot || parentSlot <= fromSlot;

const follows = (next: Searched, last: Searched): boolean =>
  next.previousBlockhash === last.blockhash && next.parentSlot === last.slot;

/** The node has named this block: one that it does not give may hold anything. */
async function searchedAt(rpc: Rpc, slot: number): Promise<Searched> {
  const found = await blockAt(rpc, block, slot, { transactionDetails: 'signatures' });
  if (found === null)
    throw new RpcUnavailable('getBlock', `no block at slot ${slot}, which getBlocksWithLimit named`);
  const kept = found.signatures.map((signature) => signature.slice(0, SIGNATURE_KEPT));
  return { ...found, slot, signatures: kept.join(' ') };
}
