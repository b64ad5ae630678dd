import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import type { Inclusion } from '../chain.ts';
import { type Rpc, RpcUnavailable, read } from '../json-rpc.ts';
import { amount, hash, height as heightForm } from './rpc.ts';

const BLOCK_TIMEOUT_MS = 60_000;
const inputs = z.object({
  vin: z.array(z.object({ txid: hash.optional(), vout: z.int().min(0).optional() })),
});
const spends = z.object({
  hash,
  height: heightForm,
  confirmations: z.int(),
  tx: z.array(inputs.extend({ txid: hash })),
});
const outputs = z.object({
  height: heightForm,
  confirmations: z.int(),
  tx: z.array(
    z.object({
      txid: hash,
      vout: z.array(
        z.object({
          n: z.int().min(0),
          value: amount,
          scriptPubKey: z.object({ address: z.string().optional() }),
        }),
      ),
    }),
  ),
});

export type Received = { outpoint: string; amount: Units };

/** The transaction that spent an output, in a block. */
export type Spender = Inclusion & { outpoint: string };

export async function findSpenders(
  rpc: Rpc,
  outpoints: readonly string[],
  fromHeight: number,
  toHeight: number,
): Promise<Spender[]> {
  const wanted = new Set(outpoints);
  const found: Spender[] = [];
  for (let height = fromHeight; height <= toHeight; height++) {
    const block = await blockAt(rpc, height, spends);
    for (const { txid, vin } of block.tx) {
      for (const input of vin) {
        const outpoint = `${input.txid}:${input.vout}`;
        if (wanted.has(outpoint)) found.push({ outpoint, txHash: txid, height, blockHash: block.hash });
      }
    }
  }
  return found;
}

export async function received(
  rpc: Rpc,
  address: string,
  fromHeight: number,
  toHeight: number,
): Promise<Received[]> {
  const found: Received[] = [];
  for (let height = fromHeight; height <= toHeight; height++) {
    const block = await blockAt(rpc, height, outputs);
    for (const { txid, vout } of block.tx) {
      for (const { n, value, scriptPubKey } of vout) {
        if (scriptPubKey.address === address) found.push({ outpoint: `${txid}:${n}`, amount: value });
      }
    }
  }
  return found;
}

/** A block that was not read may be the one: what comes after it proves nothing. */
async function blockAt<B extends { height: number; confirmations: number }>(
  rpc: Rpc,
  height: number,
  form: z.ZodType<B>,
): Promise<B> {
  const blockHash = read(hash, await rpc.call('getblockhash', [height]), 'getblockhash');
  const block = read(form, await rpc.call('getblock', [blockHash, 2], BLOCK_TIMEOUT_MS, 'exact'), 'getblock');
  if (block.height !== height || block.confirmations < 1) {
    throw new RpcUnavailable('getblock', `no block ${height}`);
  }
  return block;
}
