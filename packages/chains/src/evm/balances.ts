import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import type { BalanceReader } from '../chain.ts';
import { askEach, type Rpc, RpcRefused, RpcUnavailable, read } from '../json-rpc.ts';
import { address, hash, toHex, units256 } from './rpc.ts';

const TRACE_TIMEOUT_MS = 30_000;
/** Providers limit the calls of one request; 100 is the lowest limit in common use. */
const BALANCES_AT_ONCE = 100;
/** Only the fields that are read; a trace has many more. */
type Frame = {
  type: string;
  to?: string | undefined;
  value?: bigint | undefined;
  error?: string | undefined;
  calls?: Frame[] | undefined;
};
const frame: z.ZodType<Frame> = z.lazy(() =>
  z.object({
    type: z.string(),
    to: address.optional(),
    value: units256.optional(),
    error: z.string().optional(),
    calls: z.array(frame).optional(),
  }),
);
const traces = z.array(z.object({ txHash: hash.optional(), result: frame.optional() }));
const transactionHashes = z.object({ transactions: z.array(hash) });

/**
 * Native money that a contract sent. The balance tells that it came and how much: every node knows balances. A trace
 * only names the transaction, where the node traces.
 */
export const createBalanceReader = (rpc: Rpc): BalanceReader => ({
  balancesAt: (addresses, height) => balancesAt(rpc, addresses, height),
  internalSource: (owner, blockHash) => internalSource(rpc, owner, blockHash),
});

async function balancesAt(
  rpc: Rpc,
  addresses: readonly string[],
  height: number,
): Promise<Map<string, Units>> {
  const method = 'eth_getBalance';
  const balances = new Map<string, Units>();
  const callFor = (owner: string) => ({ method, params: [owner, toHex(height)] });
  for await (const [owner, answer] of askEach(rpc, addresses, callFor, { atOnce: BALANCES_AT_ONCE })) {
    balances.set(owner, read(units256, answer, method) as Units);
  }
  return balances;
}

async function internalSource(rpc: Rpc, owner: string, blockHash: string): Promise<string | null> {
  try {
    const [traceAnswer, blockAnswer] = await rpc.batch(
      [
        { method: 'debug_traceBlockByHash', params: [blockHash, { tracer: 'callTracer' }] },
        { method: 'eth_getBlockByHash', params: [blockHash, false] },
      ],
      TRACE_TIMEOUT_MS,
    );
    const traced = read(traces, traceAnswer, 'debug_traceBlockByHash');
    const { transactions } = read(transactionHashes, blockAnswer, 'eth_getBlockByHash');
    const index = traced.findIndex(({ result }) => result !== undefined && paysInside(result, owner));
    // Some nodes name the transaction of a trace, all keep the block's order.
    return traced[index]?.txHash ?? transactions[index] ?? null;
  } catch (error) {
    // Many nodes do not trace at all. The balance told the amount; the payment stays without a transaction hash.
    if (error instanceof RpcRefused || error instanceof RpcUnavailable) return null;
    throw error;
  }
}

/** Whether native money reached `owner` in a call below this one. What is below a failed call was undone. */
function paysInside({ error, calls = [] }: Frame, owner: string): boolean {
  if (error !== undefined) return false;
  return calls.some((call) => pays(call, owner) || paysInside(call, owner));
}

// A DELEGATECALL shows its caller's value and moves none.
const pays = ({ type, to, value = 0n, error }: Frame, owner: string): boolean =>
  (type === 'CALL' || type === 'SELFDESTRUCT') && to === owner && value > 0n && error === undefined;
