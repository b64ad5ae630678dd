import type { Units } from '@quittance/shared/money';
import { keccak256 } from 'viem/utils';
import { z } from 'zod';
import type { Broadcast, TransactionStatus } from '../chain.ts';
import { answered, type Rpc, RpcRefused, read } from '../json-rpc.ts';
import { bytes, count, feeFields, feeOf, hash, header, toHex } from './rpc.ts';

type Hex = `0x${string}`;

const known = z.object({ hash }).nullable();
const receipt = z.object({
  blockNumber: count,
  blockHash: hash,
  status: z.enum(['0x0', '0x1']),
  ...feeFields,
});

/** Codes nodes use when it is the transaction they refuse, as against having trouble of their own. */
const REFUSES_TRANSACTION = new Set([-32_000, -32_003, -32_010, -32_602]);

export async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  // Nothing that is not even hexadecimal was ever signed here; no node has to be asked.
  if (!bytes.safeParse(raw).success || raw.length < 4) return 'rejected';
  const txHash = keccak256(raw as Hex);
  try {
    const answer = read(hash, await rpc.call('eth_sendRawTransaction', [raw]), 'eth_sendRawTransaction');
    return answer === txHash ? 'accepted' : 'unknown';
  } catch (error) {
    if (!(error instanceof RpcRefused)) return 'unknown';
    if (/already ?(known|imported)|known transaction|existing tx with same hash/i.test(error.message)) {
      return 'accepted';
    }
    // "Nonce too low", say, is what a node answers when this very transaction is mined.
    const has = await isKnown(rpc, txHash);
    if (has === 'unknown') return 'unknown';
    if (has) return 'accepted';
    return REFUSES_TRANSACTION.has(error.code) ? 'rejected' : 'unknown';
  }
}

async function isKnown(rpc: Rpc, txHash: string): Promise<boolean | 'unknown'> {
  try {
    const answer = await rpc.call('eth_getTransactionByHash', [txHash]);
    return read(known, answer, 'eth_getTransactionByHash') !== null;
  } catch {
    return 'unknown';
  }
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
  // The receipt of a block that is no longer in the chain: neither mined nor gone, the next question will tell.
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
