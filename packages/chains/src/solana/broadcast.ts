import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import type { Broadcast, TransactionStatus } from '../chain.ts';
import { ask, broadcastOnce, type Rpc, RpcUnavailable } from '../json-rpc.ts';
import { feeTaken, rentPaid, transactionBalances } from './balance-changes.ts';
import { BLOCK_TIMEOUT_MS, base58, blockAt, count, known, slotAt } from './rpc.ts';
import { hashOf, type SolanaPlan, unsigned } from './transaction.ts';

const statuses = z.object({
  context: z.object({ slot: count }),
  value: z.tuple([
    z
      .object({
        slot: count,
        err: z.unknown(),
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
      })
      .nullable(),
  ]),
});
const transaction = z.object({ slot: count, meta: transactionBalances.extend({ err: z.unknown() }) });
const blockHeader = z.object({ blockhash: base58 });
const simulation = z.object({ value: z.object({ err: z.unknown() }) });
const rentRefusal = z.object({ InsufficientFundsForRent: z.object({ account_index: count }) });
const programRefusal = z.object({ InstructionError: z.array(z.unknown()) });

/** A signature that no transaction has. */
export const NEVER_SENT = '1'.repeat(64);

/** Codes with which nodes refuse bytes that can never be a transaction of the network. */
const REFUSES_BYTES = new Set([-32_003, -32_602]);

/** What the newest confirmed state would make of a plan: `payer` when it is the fee payer's own account that fails. */
export async function simulate(rpc: Rpc, plan: SolanaPlan): Promise<'works' | 'payer' | 'fails'> {
  const method = 'simulateTransaction';
  const config = {
    encoding: 'base64',
    commitment: 'confirmed',
    sigVerify: false,
    replaceRecentBlockhash: true,
  };
  const { err } = (await ask(rpc, simulation, method, [unsigned(plan), config])).value;
  if (err == null) return 'works';
  const rent = rentRefusal.safeParse(err);
  if (rent.success) return rent.data.InsufficientFundsForRent.account_index === 0 ? 'payer' : 'fails';
  if (programRefusal.safeParse(err).success) return 'fails';
  // Anything else is about the node, the moment, or the fee payer.
  throw new RpcUnavailable(method, `it fails with ${JSON.stringify(err)}`);
}

export async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  const txHash = hashOf(raw);
  // Bytes that cannot be parsed were never signed here, so no node has to be asked.
  if (txHash === undefined) return 'rejected';
  // It was simulated before it was signed. A simulation by the node would fail for a transaction that was sent already.
  const config = { encoding: 'base64', skipPreflight: true };
  return await broadcastOnce({
    txHash,
    send: () => ask(rpc, base58, 'sendTransaction', [raw, config]),
    isKnown: async () => (await statusOf(rpc, txHash)).found !== null,
    refusals: REFUSES_BYTES,
  });
}

export async function statusOf(rpc: Rpc, txHash: string) {
  const params = [[txHash], { searchTransactionHistory: true }];
  const { context, value } = await ask(rpc, statuses, 'getSignatureStatuses', params);
  return { found: value[0], slot: context.slot };
}

/** Mined is finalized: what is only confirmed may still be dropped. */
export async function status(rpc: Rpc, txHash: string): Promise<TransactionStatus> {
  const { found } = await statusOf(rpc, txHash);
  if (found === null) return { state: 'absent' };
  if (found.confirmationStatus !== 'finalized') return { state: 'pending' };
  const params = [txHash, known('finalized')];
  const mined = await ask(rpc, transaction, 'getTransaction', params, BLOCK_TIMEOUT_MS, 'exact');
  const block = await blockAt(rpc, blockHeader, mined.slot, { transactionDetails: 'none' });
  if (block === null) throw new RpcUnavailable('getBlock', `no block at slot ${mined.slot}`);
  const head = await slotAt(rpc, 'finalized');
  return {
    state: 'mined',
    height: mined.slot,
    blockHash: block.blockhash,
    confirmations: Math.max(1, head - mined.slot + 1),
    succeeded: mined.meta.err == null,
    feePaid: (feeTaken(mined.meta) + rentPaid(mined.meta)) as Units,
  };
}
