import { type Units, units } from '@quittance/shared/money';
import type { Hex } from 'viem';
import { z } from 'zod';
import { type EvmFees, within } from '../chain.ts';
import { type Rpc, RpcRefused, read } from '../json-rpc.ts';
import type { EvmChain } from './network.ts';
import { bytes, toHex, units256 } from './rpc.ts';

const GWEI = 10n ** 9n;

/** What sending native money to an address without code costs, always. */
export const PLAIN_TRANSFER_GAS = 21_000n;
/**
 * A native transfer is given no more than this, twice the plain one, which is what the merchant's network fee covers:
 * a recipient that burns gas would do so at our cost. A Safe's takes about 28,000.
 */
const NATIVE_TRANSFER_GAS_MAX = 2n * PLAIN_TRANSFER_GAS;
/** A token's code is of the operator's choice, its recipients run none: what takes more than this is not usual. */
const TOKEN_TRANSFER_GAS_MAX = 250_000n;
/** A receiver may need a little more gas in another block than in the one it was estimated in. */
const GAS_HEADROOM_PERCENT = 25n;

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
  const { baseFeePerGas } = read(feeHeader, latest, 'eth_getBlockByNumber');
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

/** The most that a transaction can cost its sender. */
export const maxCostOf = (chain: EvmChain, gas: bigint, { maxFeePerGas }: EvmFees): Units =>
  units(gas * maxFeePerGas + feeLimits[chain].l1DataFeeMax);

/** What a sweep of native money brings; undefined when that would not exceed what it costs. */
export function nativeSweepValue(chain: EvmChain, held: Units, fees: EvmFees): Units | undefined {
  const cost = maxCostOf(chain, PLAIN_TRANSFER_GAS, fees);
  return held - cost > cost ? units(held - cost) : undefined;
}

export type TransactionCall = { to: Hex; value: bigint; data: Hex };

/** The gas to give a transfer, with headroom; `reverts` also when it would need too much. */
export async function estimate(
  rpc: Rpc,
  from: string,
  { to, value, data }: TransactionCall,
): Promise<bigint | 'reverts'> {
  const call = { from, to, value: toHex(value), data };
  const isNative = data === '0x';
  const [gasAnswer, resultAnswer, plainAnswer] = await rpc.batch([
    { method: 'eth_estimateGas', params: [call, 'latest'] },
    { method: 'eth_call', params: [call, 'latest'] },
    // The transfer as it would be signed: nodes say "a plain transfer" of any address without code, also of a
    // precompiled contract, which runs out of gas then and takes the fee for nothing.
    ...(isNative
      ? [{ method: 'eth_call', params: [{ ...call, gas: toHex(PLAIN_TRANSFER_GAS) }, 'latest'] }]
      : []),
  ]);
  if (isRevert(gasAnswer) || isRevert(resultAnswer)) return 'reverts';
  const gas = read(units256, gasAnswer, 'eth_estimateGas');
  const result = read(bytes, resultAnswer, 'eth_call');
  // A token may also say no by returning false, and would take the fee for nothing.
  if (!isNative && /^0x0{64}$/.test(result)) return 'reverts';
  if (gas > (isNative ? NATIVE_TRANSFER_GAS_MAX : TOKEN_TRANSFER_GAS_MAX)) return 'reverts';
  if (isNative && gas === PLAIN_TRANSFER_GAS) {
    if (isRevert(plainAnswer)) return 'reverts';
    read(bytes, plainAnswer, 'eth_call');
    return gas;
  }
  const withHeadroom = gas + (gas * GAS_HEADROOM_PERCENT) / 100n;
  // The code may burn in the block whatever it is given, also where it took little when it was estimated.
  return isNative ? within(0n, withHeadroom, NATIVE_TRANSFER_GAS_MAX) : withHeadroom;
}

/** Only what a node says when the called code itself failed; anything else is about the node, or about us. */
function isRevert(answer: unknown): boolean {
  if (!(answer instanceof RpcRefused)) return false;
  return (
    answer.code === 3 ||
    /revert|EVM error|opcode|out ?of ?gas|gas required exceeds|stack (under|over)flow|invalid ?jump|VM execution/i.test(
      answer.message,
    )
  );
}
