import { invariant } from '@quittance/shared/result';
import { Transaction } from '@scure/btc-signer';
import { z } from 'zod';
import type { Broadcast, TransactionStatus } from '../chain.ts';
import { type Rpc, RpcRefused, RpcUnavailable, read } from '../json-rpc.ts';
import { amount, hash, height as heightForm, isUnknownTransaction } from './rpc.ts';

const known = z.object({ blockhash: hash.optional(), fee: amount.optional() });
const header = z.object({ height: heightForm, confirmations: z.int() });

export const hex = z.string().regex(/^([0-9a-f]{2})+$/);

/** Core's own numbers for refusals of a transaction (rpc/protocol.h). */
const ALREADY_IN_CHAIN = -27;
/** Not to be decoded, inputs that are not there, against the rules or the node's policy. */
const REFUSES_TRANSACTION = new Set([-22, -25, -26]);

export async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  // Nothing that is not even hexadecimal was ever signed here; no node has to be asked.
  if (!/^([0-9a-f]{2})+$/.test(raw)) return 'rejected';
  try {
    read(hash, await rpc.call('sendrawtransaction', [raw]), 'sendrawtransaction');
    return 'accepted';
  } catch (error) {
    if (!(error instanceof RpcRefused)) return 'unknown';
    // Also what a node answers when it was in the pool all the time.
    if (error.code === ALREADY_IN_CHAIN || /txn-already|txn-same-nonwitness/.test(error.message)) {
      return 'accepted';
    }
    if (!REFUSES_TRANSACTION.has(error.code)) return 'unknown';
    // "Inputs missing" is also what a node answers when this very transaction is mined and all it paid is spent.
    return await isMined(rpc, raw);
  }
}

async function isMined(rpc: Rpc, raw: string): Promise<Broadcast> {
  const txHash = hashOf(raw);
  if (txHash === undefined) return 'rejected';
  try {
    const { state } = await status(rpc, txHash);
    return state === 'absent' ? 'rejected' : 'accepted';
  } catch {
    // Trouble of the node: only the chain can tell, later.
    return 'unknown';
  }
}

export function inputsIn(raw: string): string[] {
  const transaction = parsed(raw);
  return Array.from({ length: transaction.inputsLength }, (_, i) => {
    const { txid, index } = transaction.getInput(i);
    invariant(txid !== undefined && index !== undefined, 'an input spends an output');
    return `${Buffer.from(txid).toString('hex')}:${index}`;
  });
}

const parsed = (raw: string): Transaction =>
  Transaction.fromRaw(Buffer.from(raw, 'hex'), { allowUnknownInputs: true, allowUnknownOutputs: true });

/** Undefined when these are the bytes of no transaction. */
export function hashOf(raw: string): string | undefined {
  try {
    return parsed(raw).id;
  } catch {
    return undefined;
  }
}

export async function status(rpc: Rpc, txHash: string): Promise<TransactionStatus> {
  const method = 'getrawtransaction';
  const [answer] = await rpc.batch([{ method, params: [txHash, 2] }], undefined, 'exact');
  if (isUnknownTransaction(answer)) return { state: 'absent' };
  const { blockhash, fee } = read(known, answer, method);
  if (blockhash === undefined) return { state: 'pending' };
  const block = read(header, await rpc.call('getblockheader', [blockhash]), 'getblockheader');
  // A node goes on answering with a transaction of a block that a reorganisation took away, dead or not. Were it
  // waiting in the pool it would have come without a block.
  if (block.confirmations < 1) return { state: 'absent' };
  if (fee === undefined) throw new RpcUnavailable(method, 'it does not tell the fee');
  return {
    state: 'mined',
    height: block.height,
    blockHash: blockhash,
    confirmations: block.confirmations,
    succeeded: true,
    feePaid: fee,
  };
}
