import type { Units } from '@quittance/shared/money';
import { keccak256 } from 'viem/utils';
import { z } from 'zod';
import { broadcastOnce } from '../broadcast-once.ts';
import type { Broadcast, TransactionStatus } from '../chain.ts';
import { answered, type Rpc, read } from '../json-rpc.ts';
import { bytes, count, feeFields, feeOf, hash, header, toHex } from './rpc.ts';

type Hex = `0x${string}`;

const known = z.object({ hash }).nullable();
const receipt = z.object({
  blockNumber: count,
  blockHash: hash,
  status: z.enum(['0x0', '0x1']),
  ...feeFields,
});

/** Codes with which nodes refuse a transaction, not codes of their own failures. */
const REFUSES_TRANSACTION = new Set([-32_000, -32_003, -32_010, -32_602]);
const KNOWN_ALREADY = /already ?(known|imported)|known transaction|existing tx with same hash/i;

export async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  // Bytes that are not even hexadecimal were never signed here, so no node has to be asked.
  if (!bytes.safeParse(raw).success || raw.length < 4) return 'rejected';
  const txHash = keccak256(raw as Hex);
  return await broadcastOnce({
    txHash,
    send: async () => read(hash, await rpc.call('eth_sendRawTransaction', [raw]), 'eth_sendRawTransaction'),
    async isKnown() {
      const answer = await rpc.call('eth_getTransactionByHash', [txHash]);
      return read(known, answer, 'eth_getTransactionByHash') !== null;
    },
    refusals: REFUSES_TRANSACTION,
    knownAlready: KNOWN_ALREADY,
  });
}

export async function status(rpc: Rpc, txHash: string): Promise<TransactionStatus> {
  const [receiptAnswer, knownAnswer, headAnswer] = await rpc.batch([
    { method: 'eth_getTransactionReceipt', params: [txHash] },
    { method: 'eth_getTransactionByHash', params: [txHash] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ]);
  const mined = read(receipt.nullable(), answered(receiptAnswer), 'eth_getTransactionReceipt');
  if (mined === null) {
    const transaction = read(known, answered(knownAnswer), 'eth_getTransactionByHash');
    return { state: transaction === null ? 'absent' : 'pending' };
  }
  const head = read(header, answered(headAnswer), 'eth_getBlockByNumber');
  const answer = await rpc.call('eth_getBlockByNumber', [toHex(mined.blockNumber), false]);
  const canonical = read(header.nullable(), answer, 'eth_getBlockByNumber');
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
