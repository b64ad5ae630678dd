import { z } from 'zod';
import {
  type Block,
  blocksAfter,
  type ChainReader,
  type Head,
  type Payment,
  type PendingWatch,
  paymentOf,
} from '../chain.ts';
import { ask, askEach, type Rpc, RpcUnavailable, read } from '../json-rpc.ts';
import { type BitcoinNetwork, checkNetwork } from './network.ts';
import { amount, hash, height as heightForm, isNotFound, isOutOfRange, seconds } from './rpc.ts';

/** A full block with all its scripts is some 20 MB of text, so that they are read one at a time. */
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
const input = z.object({
  coinbase: z.string().optional(),
  txid: hash.optional(),
  vout: z.int().min(0).optional(),
});
const transaction = z.object({
  txid: hash,
  vin: z.array(input),
  vout: z.array(output),
});
const header = z.object({ hash, height: heightForm, time: seconds, confirmations: z.int() });
const block = header.extend({
  previousblockhash: hash.optional(),
  nextblockhash: hash.nullish(),
  tx: z.array(transaction),
});
const poolInfo = z.object({ loaded: z.boolean() });
type RawTransaction = z.infer<typeof transaction>;
type RawBlock = z.infer<typeof block>;

/** The parent of the first block, which has none. */
const NO_PARENT = '0'.repeat(64);

/** Reads Bitcoin from a node's JSON-RPC. It knows no key, and needs no index of transactions. */
export function createBitcoinReader({ rpc, network }: { rpc: Rpc; network: BitcoinNetwork }): ChainReader {
  return {
    chain: 'bitcoin',

    check: (of) => checkNetwork(rpc, network, of),

    async head(): Promise<Head> {
      const best = await ask(rpc, hash, 'getbestblockhash', []);
      const found = await ask(rpc, header, 'getblockheader', [best]);
      return { height: found.height, hash: found.hash, time: found.time };
    },

    async block(height) {
      const found = await rawBlockAt(rpc, height);
      return found && blockOf(found);
    },

    async blocksAfter(height, limit) {
      // A block names the next one, so that its hash is no question of its own.
      let named: string | null | undefined;
      const next = async (at: number) => {
        const found = await rawBlockAt(rpc, at, named);
        named = found?.nextblockhash;
        return found && blockOf(found);
      };
      return await blocksAfter(next, height, limit, 1);
    },

    hashAt: (height) => hashAt(rpc, height),

    watchPending: () => watchMempool(rpc),

    close: () => rpc.close(),
  };
}

async function hashAt(rpc: Rpc, height: number): Promise<string | undefined> {
  const [answer] = await rpc.batch([{ method: 'getblockhash', params: [height] }]);
  return isOutOfRange(answer) ? undefined : read(hash, answer, 'getblockhash');
}

const blockOf = (found: RawBlock): Block => ({
  height: found.height,
  hash: found.hash,
  parentHash: found.previousblockhash ?? NO_PARENT,
  time: found.time,
  payments: found.tx.flatMap(paymentsOf),
  // What left an address is only asked for where money may come without a trace.
  spends: [],
});

/**
 * Undefined when the chain is not that high, or the block was taken out of it since its hash was told.
 * @param named its hash, where the block below has named it; else it is asked for
 */
export async function rawBlockAt(
  rpc: Rpc,
  height: number,
  named?: string | null,
): Promise<RawBlock | undefined> {
  const wanted = named ?? (await hashAt(rpc, height));
  if (wanted === undefined) return undefined;
  const found = await ask(rpc, block, 'getblock', [wanted, 2], BLOCK_TIMEOUT_MS, 'exact');
  return found.confirmations < 1 || found.height !== height || found.hash !== wanted ? undefined : found;
}

/** Every output that has an address and is worth something. */
function paymentsOf({ txid, vin, vout }: RawTransaction): Payment[] {
  const coinbase = vin.some((input) => input.coinbase !== undefined);
  return vout.flatMap(({ n, value, scriptPubKey: { address } }) => {
    if (address === undefined || value <= 0n) return [];
    const payment = paymentOf(txid, n, 'BTC', address, value);
    return [coinbase ? { ...payment, confirmationsMin: COINBASE_CONFIRMATIONS } : payment];
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
      const callFor = (txid: string) => ({ method: 'getrawtransaction', params: [txid, 1] });
      const limits = { atOnce: PENDING_AT_ONCE, timeoutMs: BATCH_TIMEOUT_MS, numbers: 'exact' } as const;
      for await (const [txid, answer] of askEach(rpc, untold, callFor, limits)) {
        // Mined, or replaced, since: not told of, and if it waits again, the next look tells.
        if (isNotFound(answer)) continue;
        fresh.push(...paymentsOf(read(transaction, answer, 'getrawtransaction')));
        known.add(txid);
      }
      told = known;
      const isComplete = untold.length === left.length;
      return { fresh, has: (txHash) => now.has(txHash), height, isComplete };
    },
  };
}
