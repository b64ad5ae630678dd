import { z } from 'zod';
import type { EvmFees } from '../chain.ts';
import { answered, type Rpc, RpcRefused, read } from '../json-rpc.ts';
import type { EvmChain } from './network.ts';
import { units256 } from './rpc.ts';

const GWEI = 10n ** 9n;

type FeeLimits = {
  /** Below it, nodes keep a transaction out of their pools, or blocks leave it out. */
  tipFloor: bigint;
  /** Above the caps, a node's answer is not believed. */
  tipCap: bigint;
  feeCap: bigint;
  /**
   * In wei, beyond the gas: the most that a network on top of Ethereum takes as L1 data fee. Its nodes require this much at
   * the sender's address; the fee is usually a hundredth of it.
   */
  l1DataFeeMax: bigint;
};

export const feeLimits = {
  ethereum: { tipFloor: GWEI / 10n, tipCap: 5n * GWEI, feeCap: 500n * GWEI, l1DataFeeMax: 0n },
  base: { tipFloor: GWEI / 1_000n, tipCap: 5n * GWEI, feeCap: 500n * GWEI, l1DataFeeMax: 10_000n * GWEI },
  // Its validators take nothing below 25 gwei of POL.
  polygon: { tipFloor: 25n * GWEI, tipCap: 500n * GWEI, feeCap: 5_000n * GWEI, l1DataFeeMax: 0n },
} as const satisfies Record<EvmChain, FeeLimits>;

const feeHeader = z.object({ baseFeePerGas: units256 });

export async function gasPrice(rpc: Rpc): Promise<{ baseFeePerGas: bigint; tip: bigint }> {
  const [latest, suggested] = await rpc.batch([
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
  ]);
  const { baseFeePerGas } = read(feeHeader, answered(latest), 'eth_getBlockByNumber');
  // Not every node has an opinion.
  const tip = suggested instanceof RpcRefused ? 0n : read(units256, suggested, 'eth_maxPriorityFeePerGas');
  return { baseFeePerGas, tip };
}

/** The base fee can double in six full blocks and the transaction still gets in. */
export function feesFor(chain: EvmChain, baseFeePerGas: bigint, suggestedTip: bigint): EvmFees {
  const { tipFloor, tipCap, feeCap } = feeLimits[chain];
  const maxPriorityFeePerGas = within(tipFloor, suggestedTip, tipCap);
  const maxFeePerGas = within(maxPriorityFeePerGas, 2n * baseFeePerGas + maxPriorityFeePerGas, feeCap);
  return { maxFeePerGas, maxPriorityFeePerGas };
}

export function within(floor: bigint, value: bigint, cap: bigint): bigint {
  if (value < floor) return floor;
  return value > cap ? cap : value;
}
