import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RpcRefused } from '@quittance/chains/json-rpc';
import { type Script, startScriptedNode } from '@quittance/testkit/scripted-node';
import type { ChainObserver } from '../src/chain-observer.ts';
import { observeBitcoin } from '../src/observe-bitcoin.ts';
import { observeEvm } from '../src/observe-evm.ts';
import { observeSolana } from '../src/observe-solana.ts';

/** What is read of a chain, from a node that answers as a test says. */

let answer: Script;
let node: Awaited<ReturnType<typeof startScriptedNode>>;
let observer: ChainObserver;

beforeAll(async () => {
  node = await startScriptedNode((method, params) => answer(method, params));
});
afterEach(() => observer.close());
afterAll(() => node.stop());

describe('Bitcoin', () => {
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

  /** The node has a transaction that spends these, in a block that was dropped. */
  const drop = (txid: string, ...vin: Utxo[]) =>
    transactions.set(txid, { blockhash: id('e'), vin, vout: [] });

  const answerOfBitcoind: Script = (method, [subject, place]) => {
    if (method === 'gettxout') return unspent.has(`${subject}:${place}`) ? { value: 1 } : null;
    const found =
      method === 'getblockheader'
        ? { confirmations: subject === BLOCK ? 1 : -1 }
        : transactions.get(String(subject));
    asked.push(`${method} ${subject}`);
    return found ?? new RpcRefused(method, -5, missing);
  };

  beforeEach(() => {
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
    answer = answerOfBitcoind;
    observer = observeBitcoin(node.url);
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
    drop(SPENDER);
    expect(await observer.payments(SPENDER, 1)).toBe('not in the chain');
  });

  test('a node whose index is not complete does not say that a transaction is not there', async () => {
    missing = `${UNKNOWN.slice(0, -1)} is being indexed`.replace('or blockchain ', '');
    transactions.clear();
    await expect(observer.payments(SPENDER, 1)).rejects.toThrow('No such mempool transaction');
    await expect(observer.transaction(SPENDER)).rejects.toThrow('No such mempool transaction');
  });

  test.each<[string, () => unknown, string | undefined]>([
    ['is in no block', () => transactions.set(SPENDER, { vin: [], vout: [] }), undefined],
    ['is in a block that was dropped', () => drop(SPENDER), undefined],
    ['is not known', () => transactions.delete(SPENDER), undefined],
    ['spends what the node does not know', () => transactions.delete(OTHER), 'No such mempool'],
    [
      'spends an output that is not there',
      () => transactions.set(OTHER, { blockhash: BLOCK, vin: [], vout: [output(9)] }),
      `the node shows no output 1 of ${OTHER}`,
    ],
  ])('a transaction that %s', async (_, change, said) => {
    change();
    const seen = observer.transaction(SPENDER);
    if (said === undefined) expect(await seen).toBeUndefined();
    else await expect(seen).rejects.toThrow(said);
  });

  test.each<[string, () => unknown, boolean]>([
    ['is not spent', () => unspent.add(`${MANY}:3`), false],
    ['is spent in a block', () => {}, true],
    ['comes from a transaction that the node does not know', () => transactions.delete(MANY), false],
    [
      'comes from a dropped transaction that may come back',
      () => {
        drop(MANY, { txid: OTHER, vout: 0 });
        unspent.add(`${OTHER}:0`);
      },
      false,
    ],
    [
      'comes from a dropped transaction whose coin another one has spent',
      () => drop(MANY, { txid: OTHER, vout: 0 }),
      true,
    ],
    [
      'comes from dropped transactions that spend each other',
      () => {
        drop(MANY, { txid: OTHER, vout: 0 });
        drop(OTHER, { txid: MANY, vout: 0 });
      },
      false,
    ],
  ])('a coin that %s is taken or not', async (_, change, taken) => {
    change();
    expect(await observer.isUsed({ outpoint: `${MANY}:3` })).toBe(taken);
  });
});

describe('EVM', () => {
  const hash = (digit: string): string => `0x${digit.repeat(64)}`;
  const [OLD, NEVER, FORGOTTEN] = [hash('a'), hash('b'), hash('c')];
  const OURS = `0x${'d'.repeat(40)}`;
  const HEIGHT = 7;

  /** A node that finds no old transaction by its hash, and has each in its block. */
  const answers: Record<string, (param: string) => unknown> = {
    eth_getTransactionReceipt: () => null,
    eth_getTransactionByHash: (asked) =>
      asked === FORGOTTEN ? { to: OURS, value: '0x1', blockNumber: '0x7' } : null,
    eth_getBlockByNumber: (height) => (height === '0x7' ? { hash: hash('e'), transactions: [OLD] } : null),
  };

  beforeEach(() => {
    answer = (method, [asked]) => answers[method]?.(String(asked));
    observer = observeEvm(node.url, { kind: 'evm', chain: 'base', rpcUrls: [], chainId: 8_453 });
  });

  test.each([
    ['in its block, and no longer found by its hash', OLD, HEIGHT, 'not kept'],
    ['found, but its receipt is gone', FORGOTTEN, HEIGHT, 'not kept'],
    ['in no block', NEVER, HEIGHT, 'not in the chain'],
    ['in another block than it is said to be', OLD, HEIGHT + 1, 'not in the chain'],
  ] as const)('a transaction that is %s', async (_, txHash, height, what) => {
    expect(await observer.payments(txHash, height)).toBe(what);
  });
});

describe('Solana', () => {
  const address = (letter: string): string => letter.repeat(44);
  const [PAYER, OURS, THEIRS, MINT] = [address('A'), address('B'), address('E'), address('F')];
  const [FIRST, SECOND] = [address('C'), address('D')];
  const PAID = '5'.repeat(88);
  const FIRST_KEPT = 100;

  const tokens = (accountIndex: number, owner: string, amount: bigint) => ({
    accountIndex,
    mint: MINT,
    owner,
    uiTokenAmount: { amount: String(amount) },
  });

  let transaction: object | null;
  /** The payer gives 90 lamports beside the fee, and tokens go where the balances say. */
  const given = (meta: object) => ({
    transaction: {
      message: { accountKeys: [PAYER, OURS, FIRST, SECOND, THEIRS].map((pubkey) => ({ pubkey })) },
    },
    meta: {
      err: null,
      preBalances: [1_000, 0, 5, 5, 5],
      postBalances: [900, 90, 5, 5, 5],
      preTokenBalances: [tokens(2, OURS, 50n), tokens(3, OURS, 0n), tokens(4, PAYER, 30n)],
      postTokenBalances: [tokens(2, OURS, 0n), tokens(3, OURS, 70n), tokens(4, PAYER, 10n)],
      ...meta,
    },
  });

  beforeEach(() => {
    answer = (method) => (method === 'getTransaction' ? transaction : FIRST_KEPT);
    const settings = {
      kind: 'solana',
      chain: 'solana',
      rpcUrls: [],
      network: 'local',
      usdcMint: MINT,
    } as const;
    observer = observeSolana(node.url, settings);
  });

  test('what an owner moves between accounts of its own is no payment', async () => {
    transaction = given({});
    expect(await observer.payments(PAID, 200)).toEqual([
      { asset: 'SOL', address: OURS, amount: 90n },
      { asset: 'USDC_SOL', address: OURS, amount: 20n },
    ]);
  });

  test('a transaction that failed pays nothing', async () => {
    transaction = given({ err: { InstructionError: [0, 'Custom'] } });
    expect(await observer.payments(PAID, 200)).toEqual([]);
  });

  test('of what is older than all it keeps a node says nothing', async () => {
    transaction = null;
    expect(await observer.payments(PAID, FIRST_KEPT)).toBe('not in the chain');
    expect(await observer.payments(PAID, FIRST_KEPT - 1)).toBe('not kept');
  });
});
