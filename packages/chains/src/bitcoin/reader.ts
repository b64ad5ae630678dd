import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import type { Block, ChainReader, Head, Payment, PendingWatch } from '../chain.ts';
import { type Rpc, RpcUnavailable, read } from '../json-rpc.ts';
import { type BitcoinNetwork, checkNetwork } from './network.ts';
import { amount, hash, height as heightForm, isNotFound, isOutOfRange, seconds } from './rpc.ts';

/** A full block with all its scripts is some 20 MB of text. */
const BLOCK_TIMEOUT_MS = 60_000;
/** A coinbase can be spent, and with it be believed, when so many blocks stand on it. */
const COINBASE_CONFIRMATIONS = 100;
/** Waiting transactions are asked for in requests of so many, and so many at a look: the rest is for the next one. */
const PENDING_AT_ONCE = 100;
const PENDING_A_LOOK = 5_000;
const BATCH_TIMEOUT_MS = 20_000;

const output = z.object({
  value: amount,
  n: z.int().min(0),
  // Absent where a script has no address, such as bare keys and OP_RETURN.
  scriptPubKey: z.object({ address: z.string().optional() }),
});
const transaction = z.object({
  txid: hash,
  vin: z.array(z.object({ coinbase: z.string().optional() })),
  vout: z.array(output),
});
const header = z.object({ hash, height: heightForm, time: seconds, confirmations: z.int() });
const block = header.extend({ previousblockhash: hash.optional(), tx: z.array(transaction) });
const poolInfo = z.object({ loaded: z.boolean() });
type RawTransaction = z.infer<typeof transaction>;

/** The parent of the first block, which has none. */
const NO_PARENT = '0'.repeat(64);

export type BitcoinReaderParts = { rpc: Rpc; network: BitcoinNetwork };

/** Reads Bitcoin from a node's JSON-RPC. It knows no key, and needs no index of transactions. */
export function createBitcoinReader({ rpc, network }: BitcoinReaderParts): ChainReader {
  const hashAt = (height: number) => hashOf(rpc, height);

  async function blockAt(height: number): Promise<Block | undefined> {
    const wanted = await hashAt(height);
    if (wanted === undefined) return undefined;
    const answer = await rpc.call('getblock', [wanted, 2], BLOCK_TIMEOUT_MS, 'exact');
    const found = read(block, answer, 'getblock');
    // Taken out of the chain between the two questions.
    if (found.confirmations < 1 || found.height !== height || found.hash !== wanted) return undefined;
    return {
      height,
      hash: found.hash,
      parentHash: found.previousblockhash ?? NO_PARENT,
      time: found.time,
      payments: found.tx.flatMap(paymentsOf),
      // What left an address is only asked for where money may come without a trace.
      spends: [],
    };
  }

  return {
    chain: 'bitcoin',

    check: () => checkNetwork(rpc, network),

    async head(): Promise<Head> {
      const best = read(hash, await rpc.call('getbestblockhash', []), 'getbestblockhash');
      const found = read(header, await rpc.call('getblockheader', [best]), 'getblockheader');
      return { height: found.height, hash: found.hash, time: found.time };
    },

    block: blockAt,

    async blocksAfter(height, limit) {
      const blocks: Block[] = [];
      for (let next = height + 1; blocks.length < limit; next++) {
        const found = await blockAt(next);
        const parent = blocks.at(-1);
        // A reorganisation between two questions: what was read so far is still one chain.
        if (found === undefined || (parent !== undefined && found.parentHash !== parent.hash)) break;
        blocks.push(found);
      }
      return blocks;
    },

    hashAt,

    watchPending: () => watchMempool(rpc),

    close: () => rpc.close(),
  };
}

async function hashOf(rpc: Rpc, height: number): Promise<string | undefined> {
  const [answer] = await rpc.batch([{ method: 'getblockhash', params: [height] }]);
  if (isOutOfRange(answer)) return undefined;
  return read(hash, answer, 'getblockhash');
}

/** Every output that has an address and is worth something. */
function paymentsOf({ txid, vin, vout }: RawTransaction): Payment[] {
  const coinbase = vin.some((input) => input.coinbase !== undefined);
  return vout.flatMap(({ n, value, scriptPubKey: { address } }) => {
    if (address === undefined || value <= 0n) return [];
    return [
      {
        outpoint: `${txid}:${n}`,
        txHash: txid,
        outputIndex: n,
        asset: 'BTC' as const,
        address,
        amount: value as Units,
        ...(coinbase ? { confirmationsMin: COINBASE_CONFIRMATIONS } : {}),
      },
    ];
  });
}

/** Keeps the hashes of what waits now, and which of them were told; nothing of what waits no more. */
function watchMempool(rpc: Rpc): PendingWatch {
  let told = new Set<string>();

  return {
    async look() {
      // In this order: what left the pool before it was listed is in a block that is counted after. And in one request:
      // a node that is restarted in between does not pass for the one that had all its pool.
      const [info, pool, count] = await rpc.batch(
        [
          { method: 'getmempoolinfo', params: [] },
          { method: 'getrawmempool', params: [] },
          { method: 'getblockcount', params: [] },
        ],
        BATCH_TIMEOUT_MS,
      );
      // A node that has just been started reads its pool from disk for minutes; nothing has vanished from it.
      if (!read(poolInfo, info, 'getmempoolinfo').loaded) {
        throw new RpcUnavailable('getrawmempool', 'the node is still loading what waits');
      }
      const waiting = read(z.array(hash), pool, 'getrawmempool');
      const height = read(heightForm, count, 'getblockcount');
      const now = new Set(waiting);
      // Kept only when the whole look succeeds: a failed look has returned nothing.
      const known = told.intersection(now);
      const fresh: Payment[] = [];
      const left = waiting.filter((txid) => !known.has(txid));
      const untold = left.slice(0, PENDING_A_LOOK);
      for (let start = 0; start < untold.length; start += PENDING_AT_ONCE) {
        const some = untold.slice(start, start + PENDING_AT_ONCE);
        const answers = await rpc.batch(
          some.map((txid) => ({ method: 'getrawtransaction', params: [txid, 1] })),
          BATCH_TIMEOUT_MS,
          'exact',
        );
        for (const [i, answer] of answers.entries()) {
          // Mined, or replaced, since: not told of, and if it waits again, the next look tells.
          if (isNotFound(answer)) continue;
          fresh.push(...paymentsOf(read(transaction, answer, 'getrawtransaction')));
          known.add(some[i] as string);
        }
      }
      told = known;
      const isComplete = untold.length === left.length;
      return { fresh, has: (txHash) => now.has(txHash), height, isComplete };
    },
  };
}
