import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { Transaction } from '@scure/btc-signer';
import { z } from 'zod';
import type { Broadcast, Inclusion, TransactionStatus } from '../chain.ts';
import { ask, broadcastOnce, type Rpc, RpcUnavailable, read } from '../json-rpc.ts';
import { rawBlockAt } from './reader.ts';
import { amount, hash, height as heightForm, isUnknownTransaction } from './rpc.ts';

const known = z.object({ blockhash: hash.optional(), fee: amount.optional() });
const header = z.object({ height: heightForm, confirmations: z.int() });
const hex = z.string().regex(/^([0-9a-f]{2})+$/);

/** Core's own numbers for refusals of a transaction (rpc/protocol.h). */
const ALREADY_IN_CHAIN = -27;
/** Not to be decoded, inputs that are not there, against the rules or the node's policy. */
const REFUSES_TRANSACTION = new Set([-22, -25, -26]);

/** Throws when these are the bytes of no transaction. */
const parsed = (raw: string): Transaction =>
  Transaction.fromRaw(Buffer.from(hex.parse(raw), 'hex'), {
    allowUnknownInputs: true,
    allowUnknownOutputs: true,
  });

/** Undefined when these are the bytes of no transaction. */
function hashOf(raw: string): string | undefined {
  try {
    return parsed(raw).id;
  } catch {
    return undefined;
  }
}

export async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  const txHash = hashOf(raw);
  // Bytes that cannot be parsed were never signed here, so no node has to be asked.
  if (txHash === undefined) return 'rejected';
  return await broadcastOnce({
    txHash,
    send: () => ask(rpc, hash, 'sendrawtransaction', [raw]),
    isKnown: async () => (await status(rpc, txHash)).state !== 'absent',
    refusals: REFUSES_TRANSACTION,
    // Also what a node answers when it was in the pool all the time.
    saysKnown: ({ code, message }) =>
      code === ALREADY_IN_CHAIN || /txn-already|txn-same-nonwitness/.test(message),
  });
}

export async function status(rpc: Rpc, txHash: string): Promise<TransactionStatus> {
  const method = 'getrawtransaction';
  const [answer] = await rpc.batch([{ method, params: [txHash, 2] }], undefined, 'exact');
  if (isUnknownTransaction(answer)) return { state: 'absent' };
  const { blockhash, fee } = read(known, answer, method);
  if (blockhash === undefined) return { state: 'pending' };
  const block = await ask(rpc, header, 'getblockheader', [blockhash]);
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

export async function inputsOf(rpc: Rpc, txHash: string): Promise<string[] | undefined> {
  const method = 'getrawtransaction';
  const [answer] = await rpc.batch([{ method, params: [txHash, 0] }]);
  if (isUnknownTransaction(answer)) return undefined;
  const raw = read(hex, answer, method);
  // The hash covers the inputs, so that one node that knows the transaction suffices. Bytes that are no transaction are as
  // good as no answer.
  if (hashOf(raw) !== txHash) throw new RpcUnavailable(method, 'another transaction');
  const transaction = parsed(raw);
  return Array.from({ length: transaction.inputsLength }, (_, i) => {
    const { txid, index } = transaction.getInput(i);
    invariant(txid !== undefined && index !== undefined, 'an input spends an output');
    return `${Buffer.from(txid).toString('hex')}:${index}`;
  });
}

/** The transaction that spent an output, in a block. */
export type Spender = Inclusion & { outpoint: string };

export async function findSpenders(
  rpc: Rpc,
  outpoints: readonly string[],
  fromHeight: number,
  toHeight: number,
): Promise<Spender[]> {
  const wanted = new Set(outpoints);
  const found: Spender[] = [];
  for await (const { height, hash: blockHash, tx } of blocks(rpc, fromHeight, toHeight)) {
    for (const { txid: txHash, vin } of tx) {
      const spent = vin.map((input) => `${input.txid}:${input.vout}`).filter((one) => wanted.has(one));
      found.push(...spent.map((outpoint) => ({ outpoint, txHash, height, blockHash })));
    }
  }
  return found;
}

export type Received = { outpoint: string; amount: Units };

export async function received(
  rpc: Rpc,
  address: string,
  fromHeight: number,
  toHeight: number,
): Promise<Received[]> {
  const found: Received[] = [];
  for await (const { tx } of blocks(rpc, fromHeight, toHeight)) {
    for (const { txid, vout } of tx) {
      const ours = vout.filter(({ scriptPubKey }) => scriptPubKey.address === address);
      found.push(...ours.map(({ n, value }) => ({ outpoint: `${txid}:${n}`, amount: value })));
    }
  }
  return found;
}

/** A block that was not read may be the one: what comes after it proves nothing. */
async function* blocks(rpc: Rpc, fromHeight: number, toHeight: number) {
  for (let height = fromHeight; height <= toHeight; height++) {
    const block = await rawBlockAt(rpc, height);
    if (block === undefined) throw new RpcUnavailable('getblock', `no block ${height}`);
    yield block;
  }
}
