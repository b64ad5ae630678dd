import { z } from 'zod';
import type { Inclusion } from '../chain.ts';
import { answered, type Rpc, RpcUnavailable, read } from '../json-rpc.ts';
import { address, count, hash, header, toHex } from './rpc.ts';

/** Full blocks are large: as many as one answer may comfortably hold. */
const BLOCKS_TOGETHER = 8;
const BLOCKS_TIMEOUT_MS = 20_000;

const fullBlock = header.extend({ transactions: z.array(z.object({ hash, from: address, nonce: count })) });

export async function findByNonce(
  rpc: Rpc,
  owner: string,
  nonce: number,
  fromHeight: number,
  toHeight: number,
): Promise<Inclusion | undefined> {
  const method = 'eth_getBlockByNumber';
  for (let from = fromHeight; from <= toHeight; from += BLOCKS_TOGETHER) {
    const heights = Array.from(
      { length: Math.min(BLOCKS_TOGETHER, toHeight - from + 1) },
      (_, i) => from + i,
    );
    const answers = await rpc.batch(
      heights.map((height) => ({ method, params: [toHex(height), true] })),
      BLOCKS_TIMEOUT_MS,
    );
    for (const [i, answer] of answers.entries()) {
      const block = read(fullBlock.nullable(), answered(answer), method);
      // A block that was not read may be the one: what comes after it proves nothing.
      if (block === null || block.number !== heights[i])
        throw new RpcUnavailable(method, `no block ${heights[i]}`);
      const found = block.transactions.find((one) => one.from === owner && one.nonce === nonce);
      if (found !== undefined) return { txHash: found.hash, height: block.number, blockHash: block.hash };
    }
  }
  return undefined;
}
