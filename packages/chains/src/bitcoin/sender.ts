import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { Transaction } from '@scure/btc-signer';
import { z } from 'zod';
import {
  type Broadcast,
  type ChainSender,
  type Placed,
  type TransactionStatus,
  WrongNetwork,
} from '../chain.ts';
import { answered, type Rpc, RpcRefused, RpcUnavailable, read } from '../json-rpc.ts';
import { type BitcoinNetwork, checkNetwork } from './network.ts';
import { amount, hash, height as heightForm, isNotFound, isUnknownTransaction } from './rpc.ts';
import {
  FEE_RATE_MAX,
  FEE_RATE_MIN,
  type SelectionOrder,
  type SignedSpend,
  type Spend,
  selectCoins,
  signSpend,
  within,
} from './spend.ts';
import type { BitcoinWallet, Branch } from './wallet.ts';

/** Payouts want to be in one of the next blocks, not in the very next one. */
const TARGET_BLOCKS = 6;
/** Where a node has seen too little to estimate, and its own minimum is low: a young development chain. */
const FEE_RATE_UNKNOWN = 2n;
/** Two inputs, a recipient, change: what most payouts are. */
const USUAL_VIRTUAL_BYTES = 210n;
/**
 * No reorganisation has ever come near a hundred blocks, and Bitcoin itself relies on that: new coins can be spent
 * from then on. Nothing here waits for it that a customer would notice.
 */
const REORGANISATION_DEPTH_MAX = 100;
const BLOCK_TIMEOUT_MS = 60_000;
/** The node walks over all unspent outputs there are: a minute or two on the main network. */
const SCAN_TIMEOUT_MS = 600_000;

const ASKED_TOGETHER = 200;

const SATOSHI = 1n;
const KILO = 1_000n;

const feeEstimate = z.object({ feerate: amount.optional() });
const poolInfo = z.object({ mempoolminfee: amount, minrelaytxfee: amount });
const relayInfo = z.object({ incrementalfee: amount });
const poolEntry = z.object({ fees: z.object({ descendant: amount }) });
const known = z.object({ blockhash: hash.optional(), fee: amount.optional() });
const header = z.object({ height: heightForm, confirmations: z.int() });
const unspent = z.object({ confirmations: z.int().min(0), value: amount });
const hex = z.string().regex(/^([0-9a-f]{2})+$/);
const inputs = z.object({
  vin: z.array(z.object({ txid: hash.optional(), vout: z.int().min(0).optional() })),
});
const spends = z.object({
  hash,
  height: heightForm,
  confirmations: z.int(),
  tx: z.array(inputs.extend({ txid: hash })),
});
const indexes = z.object({ txindex: z.object({ synced: z.boolean() }).optional() });
const outputs = z.object({
  height: heightForm,
  confirmations: z.int(),
  tx: z.array(
    z.object({
      txid: hash,
      vout: z.array(
        z.object({
          n: z.int().min(0),
          value: amount,
          scriptPubKey: z.object({ address: z.string().optional() }),
        }),
      ),
    }),
  ),
});
const scanned = z.object({
  success: z.boolean(),
  height: heightForm,
  total_amount: amount,
  unspents: z.array(z.object({ txid: hash, vout: z.int().min(0), amount })),
});

export type Unspent = { confirmations: number; amount: Units };
export type Received = { outpoint: string; amount: Units };

/** The transaction that spent an output, in a block. */
export type Spender = Placed & { outpoint: string };

export type BitcoinSender = ChainSender & {
  /** Canonical. */
  address(branch: Branch, index: number): string;
  /** Satoshi for each virtual byte, for a transaction that shall be in one of the next blocks. */
  feeRate(): Promise<bigint>;
  /** Which coins to spend for these recipients, see selectCoins. Asks nobody. */
  selectCoins(order: SelectionOrder): Spend | 'not_enough' | 'too_dear' | 'too_large';
  /** Signs. Asks nobody. */
  signSpend(spend: Spend): SignedSpend;
  /**
   * The least fee of a transaction of `virtualBytes` that nodes take in place of this one (BIP-125): what it and all
   * that spends from it while it waits pay, and the relay of the new one. Undefined when the node does not have it
   * waiting.
   */
  replacementFee(txHash: string, virtualBytes: number): Promise<Units | undefined>;
  /** Of the newest block. */
  height(): Promise<number>;
  /**
   * Of each output, whether it is in the chain and no block spends it: what waits in the pool does not count. In the
   * order they were given.
   */
  unspent(outpoints: readonly string[]): Promise<(Unspent | undefined)[]>;
  /** All unspent outputs of an address. The node walks over everything there is: for once, not for each round. */
  unspentOf(address: string): Promise<{ height: number; outputs: Received[] }>;
  /** What an address received in the blocks from one height to another, both included. */
  received(address: string, fromHeight: number, toHeight: number): Promise<Received[]>;
  /** The outputs that a transaction spends; undefined when the node has never seen it. It may be dead long since. */
  inputsOf(txHash: string): Promise<string[] | undefined>;
  /**
   * Who spent any of the outputs in the blocks from one height to another, both included, found in the blocks
   * themselves. Throws when the node lacks one of them.
   */
  findSpenders(outpoints: readonly string[], fromHeight: number, toHeight: number): Promise<Spender[]>;
};

export type BitcoinSenderParts = { rpc: Rpc; network: BitcoinNetwork; wallet: BitcoinWallet };

/** Signs with the wallet's keys, and sends through a Bitcoin Core node that keeps an index of transactions. */
export function createBitcoinSender({ rpc, network, wallet }: BitcoinSenderParts): BitcoinSender {
  const feeRate = () => estimateFeeRate(rpc);

  return {
    chain: 'bitcoin',
    hotAddress: wallet.hotAddress,
    depositAddress: (index) => wallet.address('deposit', index),
    address: wallet.address,

    async check() {
      await checkNetwork(rpc, network);
      const found = read(indexes, await rpc.call('getindexinfo', []), 'getindexinfo');
      if (found.txindex === undefined) {
        throw new WrongNetwork('the node keeps no index of transactions: start it with -txindex=1');
      }
    },

    balance: (asset, owner) => balanceOf(rpc, asset, owner),

    usualCost: async () => (USUAL_VIRTUAL_BYTES * (await feeRate())) as Units,

    feeRate,

    selectCoins: (order) => selectCoins(network, wallet, order),

    signSpend: (spend) => signSpend(network, wallet, spend),

    replacementFee: (txHash, virtualBytes) => replacementFee(rpc, txHash, virtualBytes),

    broadcast: (raw) => broadcast(rpc, raw),

    status: (txHash) => status(rpc, txHash),

    height: () => heightOf(rpc),

    unspent: (outpoints) => unspentOutputs(rpc, outpoints),

    async unspentOf(address) {
      const { height, unspents } = await scan(rpc, address);
      return {
        height,
        outputs: unspents.map(({ txid, vout, amount }) => ({ outpoint: `${txid}:${vout}`, amount })),
      };
    },

    received: (address, from, to) => received(rpc, address, from, to),

    async inputsOf(txHash) {
      const [answer] = await rpc.batch([{ method: 'getrawtransaction', params: [txHash, 0] }]);
      if (isUnknownTransaction(answer)) return undefined;
      const raw = read(hex, answered(answer), 'getrawtransaction');
      // The hash covers the inputs, so that one node that knows the transaction suffices.
      if (hashOf(raw) !== txHash) throw new RpcUnavailable('getrawtransaction', 'another transaction');
      return inputsIn(raw);
    },

    findSpenders: (outpoints, from, to) => findSpenders(rpc, outpoints, from, to),

    async finalizedHeight() {
      return Math.max(0, (await heightOf(rpc)) - REORGANISATION_DEPTH_MAX);
    },

    close: () => rpc.close(),
  };
}

function placeOf(outpoint: string): [txHash: string, output: number] {
  const [txHash = '', output = ''] = outpoint.split(':');
  // tidy-allow number: the place of an output
  return [txHash, Number(output)];
}

/** Nodes speak of bitcoins for a thousand bytes. Rounded up: a rate below a node's minimum is not relayed. */
const perByte = (perKilobyte: Units): bigint => (perKilobyte + KILO - SATOSHI) / KILO;

async function estimateFeeRate(rpc: Rpc): Promise<bigint> {
  const [estimateAnswer, poolAnswer] = await rpc.batch(
    [
      { method: 'estimatesmartfee', params: [TARGET_BLOCKS] },
      { method: 'getmempoolinfo', params: [] },
    ],
    undefined,
    'exact',
  );
  const { feerate } = read(feeEstimate, answered(estimateAnswer), 'estimatesmartfee');
  const pool = read(poolInfo, answered(poolAnswer), 'getmempoolinfo');
  const estimate = feerate === undefined ? FEE_RATE_UNKNOWN : perByte(feerate);
  const asked = within(perByte(pool.minrelaytxfee), estimate, FEE_RATE_MAX);
  return within(FEE_RATE_MIN, within(perByte(pool.mempoolminfee), asked, FEE_RATE_MAX), FEE_RATE_MAX);
}

async function replacementFee(rpc: Rpc, txHash: string, virtualBytes: number): Promise<Units | undefined> {
  const [entryAnswer, relayAnswer] = await rpc.batch(
    [
      { method: 'getmempoolentry', params: [txHash] },
      { method: 'getnetworkinfo', params: [] },
    ],
    undefined,
    'exact',
  );
  if (isNotFound(entryAnswer)) return undefined;
  const { fees } = read(poolEntry, answered(entryAnswer), 'getmempoolentry');
  const { incrementalfee } = read(relayInfo, answered(relayAnswer), 'getnetworkinfo');
  // Other nodes may ask for more than this one: the usual increment is a satoshi a byte.
  const increment = within(FEE_RATE_MIN, perByte(incrementalfee), FEE_RATE_MAX);
  return (fees.descendant + increment * BigInt(virtualBytes)) as Units;
}

async function heightOf(rpc: Rpc): Promise<number> {
  return read(heightForm, await rpc.call('getblockcount', []), 'getblockcount');
}

async function balanceOf(rpc: Rpc, asset: AssetSymbol, owner: string): Promise<Units> {
  if (asset !== 'BTC') throw new Error(`${asset} is not an asset of this network`);
  return (await scan(rpc, owner)).total_amount;
}

async function scan(rpc: Rpc, address: string): Promise<z.infer<typeof scanned>> {
  const method = 'scantxoutset';
  const answer = await rpc.call(method, ['start', [`addr(${address})`]], SCAN_TIMEOUT_MS, 'exact');
  const found = read(scanned, answer, method);
  if (!found.success) throw new RpcUnavailable(method, 'the scan was not finished');
  return found;
}

async function unspentOutputs(rpc: Rpc, outpoints: readonly string[]): Promise<(Unspent | undefined)[]> {
  const method = 'gettxout';
  const all: (Unspent | undefined)[] = [];
  for (let start = 0; start < outpoints.length; start += ASKED_TOGETHER) {
    const some = outpoints.slice(start, start + ASKED_TOGETHER);
    const answers = await rpc.batch(
      some.map((outpoint) => ({ method, params: [...placeOf(outpoint), false] })),
      undefined,
      'exact',
    );
    for (const answer of answers) {
      const found = read(unspent.nullable(), answered(answer), method);
      all.push(found === null ? undefined : { confirmations: found.confirmations, amount: found.value });
    }
  }
  return all;
}

/** Core's own numbers for refusals of a transaction (rpc/protocol.h). */
const ALREADY_IN_CHAIN = -27;
/** Not to be decoded, inputs that are not there, against the rules or the node's policy. */
const REFUSES_TRANSACTION = new Set([-22, -25, -26]);

async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
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

function inputsIn(raw: string): string[] {
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
function hashOf(raw: string): string | undefined {
  try {
    return parsed(raw).id;
  } catch {
    return undefined;
  }
}

async function status(rpc: Rpc, txHash: string): Promise<TransactionStatus> {
  const method = 'getrawtransaction';
  const [answer] = await rpc.batch([{ method, params: [txHash, 2] }], undefined, 'exact');
  if (isUnknownTransaction(answer)) return { state: 'absent' };
  const { blockhash, fee } = read(known, answered(answer), method);
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

async function findSpenders(
  rpc: Rpc,
  outpoints: readonly string[],
  fromHeight: number,
  toHeight: number,
): Promise<Spender[]> {
  const wanted = new Set(outpoints);
  const found: Spender[] = [];
  for (let height = fromHeight; height <= toHeight; height++) {
    const block = await blockAt(rpc, height, spends);
    for (const { txid, vin } of block.tx) {
      for (const input of vin) {
        const outpoint = `${input.txid}:${input.vout}`;
        if (wanted.has(outpoint)) found.push({ outpoint, txHash: txid, height, blockHash: block.hash });
      }
    }
  }
  return found;
}

async function received(
  rpc: Rpc,
  address: string,
  fromHeight: number,
  toHeight: number,
): Promise<Received[]> {
  const found: Received[] = [];
  for (let height = fromHeight; height <= toHeight; height++) {
    const block = await blockAt(rpc, height, outputs);
    for (const { txid, vout } of block.tx) {
      for (const { n, value, scriptPubKey } of vout) {
        if (scriptPubKey.address === address) found.push({ outpoint: `${txid}:${n}`, amount: value });
      }
    }
  }
  return found;
}

/** A block that was not read may be the one: what comes after it proves nothing. */
async function blockAt<B extends { height: number; confirmations: number }>(
  rpc: Rpc,
  height: number,
  form: z.ZodType<B>,
): Promise<B> {
  const blockHash = read(hash, await rpc.call('getblockhash', [height]), 'getblockhash');
  const block = read(form, await rpc.call('getblock', [blockHash, 2], BLOCK_TIMEOUT_MS, 'exact'), 'getblock');
  if (block.height !== height || block.confirmations < 1) {
    throw new RpcUnavailable('getblock', `no block ${height}`);
  }
  return block;
}
