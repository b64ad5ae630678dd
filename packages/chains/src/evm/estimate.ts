import { answered, type Rpc, RpcRefused, read } from '../json-rpc.ts';
import { within } from './fees.ts';
import { bytes, toHex, units256 } from './rpc.ts';

type Hex = `0x${string}`;

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
  const gas = read(units256, answered(gasAnswer), 'eth_estimateGas');
  const result = read(bytes, answered(resultAnswer), 'eth_call');
  // A token may also say no by returning false, and would take the fee for nothing.
  if (!isNative && /^0x0{64}$/.test(result)) return 'reverts';
  if (gas > (isNative ? NATIVE_TRANSFER_GAS_MAX : TOKEN_TRANSFER_GAS_MAX)) return 'reverts';
  if (isNative && gas === PLAIN_TRANSFER_GAS) {
    if (isRevert(plainAnswer)) return 'reverts';
    read(bytes, answered(plainAnswer), 'eth_call');
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
