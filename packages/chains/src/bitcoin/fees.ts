import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import { type Rpc, read } from '../json-rpc.ts';
import { amount, isNotFound } from './rpc.ts';
import { FEE_RATE_MAX, FEE_RATE_MIN, within } from './spend.ts';

/** Payouts want to be in one of the next blocks, not in the very next one. */
const TARGET_BLOCKS = 6;
/** Where a node has seen too little to estimate, and its own minimum is low: a young development chain. */
const FEE_RATE_UNKNOWN = 2n;
const SATOSHI = 1n;
const KILO = 1_000n;

const feeEstimate = z.object({ feerate: amount.optional() });
const poolInfo = z.object({ mempoolminfee: amount, minrelaytxfee: amount });
const relayInfo = z.object({ incrementalfee: amount });
const poolEntry = z.object({ fees: z.object({ descendant: amount }) });
/** Nodes speak of bitcoins for a thousand bytes. Rounded up: a rate below a node's minimum is not relayed. */
const perByte = (perKilobyte: Units): bigint => (perKilobyte + KILO - SATOSHI) / KILO;

export async function estimateFeeRate(rpc: Rpc): Promise<bigint> {
  const [estimateAnswer, poolAnswer] = await rpc.batch(
    [
      { method: 'estimatesmartfee', params: [TARGET_BLOCKS] },
      { method: 'getmempoolinfo', params: [] },
    ],
    undefined,
    'exact',
  );
  const { feerate } = read(feeEstimate, estimateAnswer, 'estimatesmartfee');
  const pool = read(poolInfo, poolAnswer, 'getmempoolinfo');
  const estimate = feerate === undefined ? FEE_RATE_UNKNOWN : perByte(feerate);
  const asked = within(perByte(pool.minrelaytxfee), estimate, FEE_RATE_MAX);
  return within(FEE_RATE_MIN, within(perByte(pool.mempoolminfee), asked, FEE_RATE_MAX), FEE_RATE_MAX);
}

export async function replacementFee(
  rpc: Rpc,
  txHash: string,
  virtualBytes: number,
): Promise<Units | undefined> {
  const [entryAnswer, relayAnswer] = await rpc.batch(
    [
      { method: 'getmempoolentry', params: [txHash] },
      { method: 'getnetworkinfo', params: [] },
    ],
    undefined,
    'exact',
  );
  if (isNotFound(entryAnswer)) return undefined;
  const { fees } = read(poolEntry, entryAnswer, 'getmempoolentry');
  const { incrementalfee } = read(relayInfo, relayAnswer, 'getnetworkinfo');
  // Other nodes may ask for more than this one: the usual increment is a satoshi a byte.
  const increment = within(FEE_RATE_MIN, perByte(incrementalfee), FEE_RATE_MAX);
  return (fees.descendant + increment * BigInt(virtualBytes)) as Units;
}
