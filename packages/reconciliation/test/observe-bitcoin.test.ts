import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ChainObserver } from '../src/chain-observer.ts';
import { observeBitcoin } from '../src/observe-bitcoin.ts';

const id = (digit: string): string => digit.repeat(64);
const [SPENDER, MANY, OTHER, BLOCK] = [id('a'), id('b'), id('c'), id('d')];
const UTXOS = 30;

type Utxo = { txid: string; vout: number };
type Transaction = { blockhash?: string; vin: Utxo[]; vout: { value: number; scriptPubKey: object }[] };
const output = (value: number, address?: string) => ({
  value,
  scriptPubKey: address === undefined ? {} : { address },
});

/** What the node says of a transaction that it does not find. */
const UNKNOWN = 'No such mempool or blockchain transaction.';
let missing: string;
let transactions: Map<string, Transaction>;
/** Outputs that no block spends. */
let unspent: Set<string>;
let asked: string[];
let observer: ChainObserver;

const answer = ({ id, method, params }: { id: number; method: string; params: [string, number?] }) => {
  if (method === 'gettxout') {
    return { id, result: unspent.has(`${params[0]}:${params[1]}`) ? { value: 1 } : null };
  }
  const found =
    method === 'getblockheader'
      ? { confirmations: params[0] === BLOCK ? 1 : -1 }
      : transactions.get(params[0]);
  asked.push(`${method} ${params[0]}`);
  return found === undefined ? { id, error: { code: -5, message: missing } } : { id, result: found };
};

const node = createServer((req, res) => {
  void text(req).then((body) => {
    const calls = JSON.parse(body);
    res.end(JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls)));
  });
});

beforeEach(async () => {
  asked = [];
  missing = UNKNOWN;
  unspent = new Set();
  const utxos = Array.from({ length: UTXOS }, (_, vout) => ({ txid: MANY, vout }));
  transactions = new Map([
    [MANY, { blockhash: BLOCK, vin: [], vout: utxos.map(() => output(0.5)) }],
    [OTHER, { blockhash: BLOCK, vin: [], vout: [output(9), output(0.1)] }],
    [
      SPENDER,
      {
        blockhash: BLOCK,
        vin: [...utxos, { txid: OTHER, vout: 1 }],
        vout: [output(15, 'bcrt1qours'), output(0.0001)],
      },
    ],
  ]);
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
  observer = observeBitcoin(`http://127.0.0.1:${(node.address() as AddressInfo).port}`);
});
afterEach(async () => {
  await observer.close();
  node.close();
  await once(node, 'close');
});

test('what a transaction cost is what it spends less what it pays, however many coins came of one transaction', async () => {
  expect(await observer.transaction(SPENDER)).toEqual({
    succeeded: true,
    cost: 9_990_000n,
    paid: [{ asset: 'BTC', address: 'bcrt1qours', amount: 1_500_000_000n }],
  });
  expect(asked.filter((one) => one === `getrawtransaction ${MANY}`)).toHaveLength(1);
  expect(asked).toHaveLength(4);
});

test('what somebody else paid is told without what it spent', async () => {
  transactions.delete(MANY);
  expect(await observer.payments(SPENDER, 1)).toEqual([
    { asset: 'BTC', address: 'bcrt1qours', amount: 1_500_000_000n },
  ]);
  expect(asked).toEqual([`getrawtransaction ${SPENDER}`, `getblockheader ${BLOCK}`]);
  expect(await observer.payments(MANY, 1)).toBe('not in the chain');
  transactions.set(SPENDER, { blockhash: id('e'), vin: [], vout: [] });
  expect(await observer.payments(SPENDER, 1)).toBe('not in the chain');
});

test('a node whose index is not complete does not say that a transaction is not there', async () => {
  missing = `${UNKNOWN.slice(0, -1)} is being indexed`.replace('or blockchain ', '');
  transactions.clear();
  await expect(observer.payments(SPENDER, 1)).rejects.toThrow('No such mempool transaction');
  await expect(observer.transaction(SPENDER)).rejects.toThrow('No such mempool transaction');
});

test.each<[string, () => void, string | undefined]>([
  [
    'is in no block',
    () => {
      transactions.set(SPENDER, { vin: [], vout: [] });
    },
    undefined,
  ],
  [
    'is in a block that was dropped',
    () => {
      transactions.set(SPENDER, { blockhash: id('e'), vin: [], vout: [] });
    },
    undefined,
  ],
  ['is not known', () => transactions.delete(SPENDER), undefined],
  ['spends what the node does not know', () => transactions.delete(OTHER), 'No such mempool'],
  [
    'spends an output that is not there',
    () => {
      transactions.set(OTHER, { blockhash: BLOCK, vin: [], vout: [output(9)] });
    },
    `the node shows no output 1 of ${OTHER}`,
  ],
])('a transaction that %s', async (_, change, said) => {
  change();
  const seen = observer.transaction(SPENDER);
  if (said === undefined) expect(await seen).toBeUndefined();
  else await expect(seen).rejects.toThrow(said);
});

const DROPPED = id('e');
test.each<[string, () => void, boolean]>([
  ['is not spent', () => unspent.add(`${MANY}:3`), false],
  ['is spent in a block', () => {}, true],
  ['comes from a transaction that the node does not know', () => transactions.delete(MANY), false],
  [
    'comes from a dropped transaction that may come back',
    () => {
      transactions.set(MANY, { blockhash: DROPPED, vin: [{ txid: OTHER, vout: 0 }], vout: [] });
      unspent.add(`${OTHER}:0`);
    },
    false,
  ],
  [
    'comes from a dropped transaction whose coin another one has spent',
    () => {
      transactions.set(MANY, { blockhash: DROPPED, vin: [{ txid: OTHER, vout: 0 }], vout: [] });
    },
    true,
  ],
  [
    'comes from dropped transactions that spend each other',
    () => {
      transactions.set(MANY, { blockhash: DROPPED, vin: [{ txid: OTHER, vout: 0 }], vout: [] });
      transactions.set(OTHER, { blockhash: DROPPED, vin: [{ txid: MANY, vout: 0 }], vout: [] });
    },
    false,
  ],
])('a coin that %s is taken or not', async (_, change, taken) => {
  change();
  expect(await observer.isUsed({ outpoint: `${MANY}:3` })).toBe(taken);
});
