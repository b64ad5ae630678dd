import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import { broadcastOnce } from '../broadcast-once.ts';
import type { Broadcast, TransactionStatus } from '../chain.ts';
import { type Rpc, read } from '../json-rpc.ts';
import { feeTaken, rentPaid } from './cost.ts';
import { base58, count, lamports, slotAt, tokenUnits } from './rpc.ts';
import { hashOf } from './transaction.ts';

const BLOCK_TIMEOUT_MS = 20_000;

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
const ownedBalance = z.object({ accountIndex: count, uiTokenAmount: z.object({ amount: tokenUnits }) });
const transaction = z.object({
  slot: count,
  meta: z.object({
    err: z.unknown(),
    preBalances: z.array(lamports),
    postBalances: z.array(lamports),
    preTokenBalances: z.array(ownedBalance).nullish(),
    postTokenBalances: z.array(ownedBalance).nullish(),
  }),
});
const blockHeader = z.object({ blockhash: base58 });

/** A signature that no transaction has. */
export const NEVER_SENT = '1'.repeat(64);

/** Codes with which nodes refuse bytes that can never be a transaction of the network. */
const REFUSES_BYTES = new Set([-32_003, -32_602]);

export async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  const txHash = hashOf(raw);
  // Bytes that cannot be parsed were never signed here, so no node has to be asked.
  if (txHash === undefined) return 'rejected';
  // It was simulated before it was signed. A simulation by the node would fail for a transaction that was sent already.
  const config = { encoding: 'base64', skipPreflight: true };
  return await broadcastOnce({
    txHash,
    send: async () => read(base58, await rpc.call('sendTransaction', [raw, config]), 'sendTransaction'),
    isKnown: async () => (await statusOf(rpc, txHash)).found !== null,
    refusals: REFUSES_BYTES,
  });
}

export async function statusOf(rpc: Rpc, txHash: string) {
  const method = 'getSignatureStatuses';
  const answer = await rpc.call(method, [[txHash], { searchTransactionHistory: true }]);
  const { context, value } = read(statuses, answer, method);
  return { found: value[0], slot: context.slot };
}

/** Mined is finalized: what is only confirmed may still be dropped. */
export async function status(rpc: Rpc, txHash: string): Promise<TransactionStatus> {
  const { found } = await statusOf(rpc, txHash);
  if (found === null) return { state: 'absent' };
  if (found.confirmationStatus !== 'finalized') return { state: 'pending' };
  const config = { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: 0 };
  const answer = await rpc.call('getTransaction', [txHash, config], BLOCK_TIMEOUT_MS, 'exact');
  const mined = read(transaction, answer, 'getTransaction');
  const bare = { ...config, transactionDetails: 'none', rewards: false };
  const block = read(blockHeader, await rpc.call('getBlock', [mined.slot, bare]), 'getBlock');
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
