import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ChainObserver } from '../src/chain-observer.ts';
import { observeEvm } from '../src/observe-evm.ts';

const hash = (digit: string): string => `0x${digit.repeat(64)}`;
const [OLD, NEVER, FORGOTTEN] = [hash('a'), hash('b'), hash('c')];
const OURS = `0x${'d'.repeat(40)}`;
const HEIGHT = 7;

let observer: ChainObserver;

/** A node that finds no old transaction by its hash, and has each in its block. */
const answers: Record<string, (param: string) => unknown> = {
  eth_getTransactionReceipt: () => null,
  eth_getTransactionByHash: (asked) =>
    asked === FORGOTTEN ? { to: OURS, value: '0x1', blockNumber: '0x7' } : null,
  eth_getBlockByNumber: (height) => (height === '0x7' ? { hash: hash('e'), transactions: [OLD] } : null),
};

const node = createServer((req, res) => {
  void text(req).then((body) => {
    const calls = [JSON.parse(body)].flat() as { id: number; method: string; params: [string] }[];
    const all = calls.map(({ id, method, params }) => ({ id, result: answers[method]?.(params[0]) }));
    res.end(JSON.stringify(Array.isArray(JSON.parse(body)) ? all : all[0]));
  });
});

beforeEach(async () => {
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
  const { port } = node.address() as AddressInfo;
  observer = observeEvm(`http://127.0.0.1:${port}`, {
    kind: 'evm',
    chain: 'base',
    rpcUrls: [],
    chainId: 8_453,
  });
});
afterEach(async () => {
  await observer.close();
  node.close();
  await once(node, 'close');
});

test.each([
  ['in its block, and no longer found by its hash', OLD, HEIGHT, 'not kept'],
  ['found, but its receipt is gone', FORGOTTEN, HEIGHT, 'not kept'],
  ['in no block', NEVER, HEIGHT, 'not in the chain'],
  ['in another block than it is said to be', OLD, HEIGHT + 1, 'not in the chain'],
] as const)('a transaction that is %s', async (_, txHash, height, what) => {
  expect(await observer.payments(txHash, height)).toBe(what);
});
