import type { Units } from '@quittance/shared/money';
import type { Hex } from 'viem';
import { keccak256 } from 'viem/utils';
import { z } from 'zod';
import { broadcastOnce } from '../broadcast-once.ts';
import type { Broadcast, Inclusion, TransactionStatus } from '../chain.ts';
import { ask, askEach, type Rpc, RpcUnavailable, read } from '../json-rpc.ts';
import { address, bytes, count, feeFields, feeOf, hash, header, toHex } from './rpc.ts';

/** Full blocks are large: as many as one answer may comfortably hold. */
const BLOCKS_TOGETHER = 8;
const BLOCKS_TIMEOUT_MS = 20_000;

const known = z.object({ hash }).nullable();
const receipt = z.object({
  blockNumber: count,
  blockHash: hash,
  status: z.enum(['0x0', '0x1']),
  ...feeFields,
});
const fullBlock = header.extend({ transactions: z.array(z.object({ hash, from: address, nonce: count })) });

/** Codes with which nodes refuse a transaction, not codes of their own failures. */
const REFUSES_TRANSACTION = new Set([-32_000, -32_003, -32_010, -32_602]);
const KNOWN_ALREADY = /already ?(known|imported)|known transaction|existing tx with same hash/i;

export async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  // Bytes that are not even hexadecimal were never signed here, so no node has to be asked.
  if (!bytes.safeParse(raw).success || raw.length < 4) return 'rejected';
  const txHash = keccak256(raw as Hex);
  return await broadcastOnce({
    txHash,
    send: () => ask(rpc, hash, 'eth_sendRawTransaction', [raw]),
    isKnown: async () => (await ask(rpc, known, 'eth_getTransactionByHash', [txHash])) !== null,
    refusals: REFUSES_TRANSACTION,
    saysKnown: ({ message }) => KNOWN_ALREADY.test(message),
  });
}

export async function status(rpc: Rpc, txHash: string): Promise<TransactionStatus> {
  const [receiptAnswer, knownAnswer, headAnswer] = await rpc.batch([
    { method: 'eth_getTransactionReceipt', params: [txHash] },
    { method: 'eth_getTransactionByHash', params: [txHash] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ]);
  const mined = read(receipt.nullable(), receiptAnswer, 'eth_getTransactionReceipt');
  if (mined === null) {
    const transaction = read(known, knownAnswer, 'eth_getTransactionByHash');
    return { state: transaction === null ? 'absent' : 'pending' };
  }
  const head = read(header, headAnswer, 'eth_getBlockByNumber');
  const place = [toHex(mined.blockNumber), false];
  const canonical = await ask(rpc, header.nullable(), 'eth_getBlockByNumber', place);
  // The receipt is of a block that is no longer in the chain: the next request shows whether it is mined again.
  if (canonical?.hash !== mined.blockHash) return { state: 'pending' };
  return {
    state: 'mined',
    height: mined.blockNumber,
    blockHash: mined.blockHash,
    confirmations: Math.max(0, head.number - mined.blockNumber + 1),
    succeeded: mined.status === '0x1',
    feePaid: feeOf(mined) as Units,
  };
}

export async function findByNonce(
  rpc: Rpc,
  owner: string,
  nonce: number,
  fromHeight: number,
  toHeight: number,
): Promise<Inclusion | undefined> {
  const method = 'eth_getBlockByNumber';
  const heights = Array.from({ length: toHeight - fromHeight + 1 }, (_, i) => fromHeight + i);
  const callFor = (height: number) => ({ method, params: [toHex(height), true] });
  const limits = { atOnce: BLOCKS_TOGETHER, timeoutMs: BLOCKS_TIMEOUT_MS };
  for await (const [height, answer] of askEach(rpc, heights, callFor, limits)) {
    const block = read(fullBlock.nullable(), answer, method);
    // A block that was not read may be the one: what comes after it proves nothing.
    if (block === null || block.number !== height) throw new RpcUnavailable(method, `no block ${height}`);
    const found = block.transactions.find((one) => one.from === owner && one.nonce === nonce);
    if (found !== undefined) return { txHash: found.hash, height, blockHash: block.hash };
  }
  return undefined;
}
