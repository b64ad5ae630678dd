import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ChainObserver } from '../src/chain-observer.ts';
import { observeSolana } from '../src/observe-solana.ts';

const address = (letter: string): string => letter.repeat(44);
const [PAYER, OURS, FIRST, SECOND, THEIRS, MINT] = ['A', 'B', 'C', 'D', 'E', 'F'].map(address) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const PAID = '5'.repeat(88);
const FIRST_KEPT = 100;

const tokens = (accountIndex: number, owner: string, amount: bigint) => ({
  accountIndex,
  mint: MINT,
  owner,
  uiTokenAmount: { amount: String(amount) },
});

let transaction: object | null;
let observer: ChainObserver;

const node = createServer((req, res) => {
  void text(req).then((body) => {
    const { id, method } = JSON.parse(body);
    res.end(JSON.stringify({ id, result: method === 'getTransaction' ? transaction : FIRST_KEPT }));
  });
});

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

beforeEach(async () => {
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
  const { port } = node.address() as AddressInfo;
  const settings = {
    kind: 'solana',
    chain: 'solana',
    rpcUrls: [],
    network: 'local',
    usdcMint: MINT,
  } as const;
  observer = observeSolana(`http://127.0.0.1:${port}`, settings);
});
afterEach(async () => {
  await observer.close();
  node.close();
  await once(node, 'close');
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
