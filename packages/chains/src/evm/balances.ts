import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import type { BalanceReader } from '../chain.ts';
import { answered, type Rpc, RpcRefused, RpcUnavailable, read } from '../json-rpc.ts';
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
  const balances = new Map<string, Units>();
  for (let start = 0; start < addresses.length; start += BALANCES_AT_ONCE) {
    const some = addresses.slice(start, start + BALANCES_AT_ONCE);
    const answers = await rpc.batch(
      some.map((owner) => ({ method: 'eth_getBalance', params: [owner, toHex(height)] })),
    );
    for (const [i, owner] of some.entries()) {
      balances.set(owner, read(units256, answered(answers[i]), 'eth_getBalance') as Units);
    }
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
    const traced = read(traces, answered(traceAnswer), 'debug_traceBlockByHash');
    const { transactions } = read(transactionHashes, answered(blockAnswer), 'eth_getBlockByHash');
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
