import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import { type ChainSender, type HotWallet, WrongNetwork, within } from '../chain.ts';
import { ask, askEach, type Rpc, RpcUnavailable, read } from '../json-rpc.ts';
import {
  broadcast,
  findSpenders,
  inputsOf,
  type Received,
  received,
  type Spender,
  status,
} from './broadcast.ts';
import { type BitcoinNetwork, checkNetwork } from './network.ts';
import { amount, hash, height as heightForm, isNotFound } from './rpc.ts';
import {
  FEE_RATE_MAX,
  FEE_RATE_MIN,
  placeOf,
  type SelectionOrder,
  type Spend,
  selectUtxos,
} from './spend.ts';

/** Two inputs, a recipient and change: most payouts have this size. */
const TYPICAL_VIRTUAL_BYTES = 210n;
/**
 * No reorganisation has ever come near a hundred blocks, and Bitcoin itself relies on that: a coinbase can be spent after
 * a hundred. No customer waits for this.
 */
const REORGANISATION_DEPTH_MAX = 100;

/** Payouts want to be in one of the next blocks, not in the very next one. */
const TARGET_BLOCKS = 6;
/** Where a node has seen too little to estimate, and its own minimum is low: a young development chain. */
const FEE_RATE_UNKNOWN = 2n;

/** The node scans all unspent outputs of the chain: a minute or two on the main network. */
const SCAN_TIMEOUT_MS = 600_000;

const ASKED_TOGETHER = 200;

const feeEstimate = z.object({ feerate: amount.optional() });
const poolInfo = z.object({ mempoolminfee: amount, minrelaytxfee: amount });
const relayInfo = z.object({ incrementalfee: amount });
const poolEntry = z.object({ fees: z.object({ descendant: amount }) });
const unspent = z.object({ confirmations: z.int().min(0), value: amount });
const indexes = z.object({ txindex: z.object({ synced: z.boolean() }).optional() });
const scanned = z.object({
  success: z.boolean(),
  height: heightForm,
  total_amount: amount,
  unspents: z.array(z.object({ txid: hash, vout: z.int().min(0), amount })),
});

export type Unspent = { confirmations: number; amount: Units };

export type BitcoinSender = ChainSender & {
  /** Satoshi for each virtual byte, for a transaction that shall be in one of the next blocks. */
  feeRate(): Promise<bigint>;
  /** Selects the UTXOs to spend for these recipients, see selectUtxos. Asks no node. */
  selectUtxos(order: SelectionOrder): Spend | 'not_enough' | 'too_dear' | 'too_large';
  /**
   * The least fee of a transaction of `virtualBytes` that nodes accept as a replacement of this one (BIP-125): what it and all
   * that spends from it while it waits pay, and the relay of the new one. Undefined when the node does not have it
   * waiting.
   */
  replacementFee(txHash: string, virtualBytes: number): Promise<Units | undefined>;
  newestBlock(): Promise<string>;
  /** Of the newest block. */
  height(): Promise<number>;
  /**
   * Whether each output is in the chain and no block spends it. The mempool does not count. In the order of the
   * outpoints.
   */
  unspent(outpoints: readonly string[]): Promise<(Unspent | undefined)[]>;
  /** Whether a transaction of the mempool spends one of these outputs, which no block spends. */
  spentInMempool(outpoints: readonly string[]): Promise<boolean>;
  /** All unspent outputs of an address. The node scans the whole chain state: not for every round. */
  unspentOf(address: string): Promise<{ height: number; outputs: Received[] }>;
  /** What an address received in the blocks from one height to another, both included. */
  received(address: string, fromHeight: number, toHeight: number): Promise<Received[]>;
  /** The outputs that a transaction spends; undefined when the node has never seen it. It may be replaced or conflicted. */
  inputsOf(txHash: string): Promise<string[] | undefined>;
  /**
   * The transactions that spent any of the outputs in the blocks from one height to another, both included, found in the
   * blocks themselves. Throws when the node lacks one of the blocks.
   */
  findSpenders(outpoints: readonly string[], fromHeight: number, toHeight: number): Promise<Spender[]>;
};

type BitcoinSenderParts = { rpc: Rpc; network: BitcoinNetwork; wallet: HotWallet };

/** Sends through a Bitcoin Core node that keeps an index of transactions. */
export function createBitcoinSender({ rpc, network, wallet }: BitcoinSenderParts): BitcoinSender {
  const feeRate = () => estimateFeeRate(rpc);

  return {
    chain: 'bitcoin',
    hotAddress: wallet.hotAddress,

    async check() {
      await checkNetwork(rpc, network);
      const found = await ask(rpc, indexes, 'getindexinfo', []);
      if (found.txindex === undefined) {
        throw new WrongNetwork('the node keeps no index of transactions: start it with -txindex=1');
      }
    },

    async balance(asset, owner) {
      if (asset !== 'BTC') throw new Error(`${asset} is not an asset of this network`);
      return (await scan(rpc, owner)).total_amount;
    },

    estimatedFee: async () => (TYPICAL_VIRTUAL_BYTES * (await feeRate())) as Units,

    feeRate,

    selectUtxos: (order) => selectUtxos(network, wallet.hotAddress, order),

    replacementFee: (txHash, virtualBytes) => replacementFee(rpc, txHash, virtualBytes),

    broadcast: (raw) => broadcast(rpc, raw),

    status: (txHash) => status(rpc, txHash),

    newestBlock: () => ask(rpc, hash, 'getbestblockhash', []),

    height: () => heightOf(rpc),

    unspent: (outpoints) => unspentOutputs(rpc, outpoints, false),

    spentInMempool: async (outpoints) => (await unspentOutputs(rpc, outpoints, true)).includes(undefined),

    async unspentOf(address) {
      const { height, unspents } = await scan(rpc, address);
      return {
        height,
        outputs: unspents.map(({ txid, vout, amount }) => ({ outpoint: `${txid}:${vout}`, amount })),
      };
    },

    received: (address, from, to) => received(rpc, address, from, to),

    inputsOf: (txHash) => inputsOf(rpc, txHash),

    findSpenders: (outpoints, from, to) => findSpenders(rpc, outpoints, from, to),

    async finalizedHeight() {
      return Math.max(0, (await heightOf(rpc)) - REORGANISATION_DEPTH_MAX);
    },

    close: () => rpc.close(),
  };
}

const heightOf = (rpc: Rpc): Promise<number> => ask(rpc, heightForm, 'getblockcount', []);

async function scan(rpc: Rpc, address: string): Promise<z.infer<typeof scanned>> {
  const params = ['start', [`addr(${address})`]];
  const found = await ask(rpc, scanned, 'scantxoutset', params, SCAN_TIMEOUT_MS, 'exact');
  if (!found.success) throw new RpcUnavailable('scantxoutset', 'the scan was not finished');
  return found;
}

async function unspentOutputs(
  rpc: Rpc,
  outpoints: readonly string[],
  withMempool: boolean,
): Promise<(Unspent | undefined)[]> {
  const method = 'gettxout';
  const all: (Unspent | undefined)[] = [];
  const callFor = (outpoint: string) => ({ method, params: [...placeOf(outpoint), withMempool] });
  const limits = { atOnce: ASKED_TOGETHER, numbers: 'exact' } as const;
  for await (const [, answer] of askEach(rpc, outpoints, callFor, limits)) {
    const found = read(unspent.nullable(), answer, method);
    all.push(found === null ? undefined : { confirmations: found.confirmations, amount: found.value });
  }
  return all;
}

/** Nodes speak of bitcoins for a thousand bytes. Rounded up: a rate below a node's minimum is not relayed. */
const perByte = (perKilobyte: Units): bigint => (perKilobyte + 999n) / 1_000n;

async function estimateFeeRate(rpc: Rpc): Promise<bigint> {
  const [estimateAnswer, poolAnswer] = await rpc.batch(
    [
      { method: 'estimatesmartfee', params: [TARGET_BLOCKS] },
      { method: 'getmempoolinfo', params: [] },
    ],
    undefined,
    'exact',
  );
  const { feerate } = read(feeEstimate, estimateAnswer, 'estimatesmartfee');
  const pool = read(poolInfo, poolAnswer, 'getmempoolinfo');
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
  const { fees } = read(poolEntry, entryAnswer, 'getmempoolentry');
  const { incrementalfee } = read(relayInfo, relayAnswer, 'getnetworkinfo');
  // Other nodes may ask for more than this one: the usual increment is a satoshi a byte.
  const increment = within(FEE_RATE_MIN, perByte(incrementalfee), FEE_RATE_MAX);
  return (fees.descendant + increment * BigInt(virtualBytes)) as Units;
}
