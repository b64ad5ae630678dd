import { describe, expect, test } from '@jest/globals';
import { scriptedRpc } from '@quittance/testkit/scripted-node';
import { RpcRefused, RpcUnavailable } from '../json-rpc.ts';
import type { EvmChain } from './network.ts';
import { createEvmReader } from './reader.ts';

const hash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
const address = (n: number): string => `0x${n.toString(16).padStart(40, 'a')}`;
const topic = (owner: string): string => `0x${owner.slice(2).padStart(64, '0')}`;

const usdc = address(1);
const us = address(2);
const payer = address(3);
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const aTransaction = { hash: hash(10), from: payer, to: us, value: '0x5', input: '0x' };
const aLog = {
  address: usdc,
  topics: [TRANSFER, topic(payer), topic(us)],
  data: hash(7),
  logIndex: '0x9',
  removed: false,
};
const aReceipt = {
  transactionHash: hash(10),
  blockHash: hash(1),
  status: '0x1',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x2',
  logs: [aLog],
};
const aBlock = {
  number: '0x64',
  hash: hash(1),
  parentHash: hash(0),
  timestamp: '0x65',
  transactions: [aTransaction],
};

/** A node that gives these answers, whatever the parameters. */
function readerOf(answers: Record<string, unknown>, chain: EvmChain = 'ethereum') {
  const rpc = scriptedRpc((method) =>
    Object.hasOwn(answers, method) ? answers[method] : new RpcRefused(method, -32_601, 'method not found'),
  );
  return createEvmReader({ rpc, chain, chainId: 1, usdcAddress: usdc });
}

const blockOf = (block: unknown, receipts: unknown) =>
  readerOf({ eth_getBlockByNumber: block, eth_getBlockReceipts: receipts }).block(100);

describe('a block', () => {
  test('is read from the node’s two answers', async () => {
    expect(await blockOf(aBlock, [aReceipt])).toEqual({
      height: 100,
      hash: hash(1),
      parentHash: hash(0),
      time: new Date(101_000),
      payments: [
        {
          outpoint: `${hash(10)}:0`,
          txHash: hash(10),
          outputIndex: 0,
          asset: 'ETH',
          address: us,
          amount: 5n,
        },
        {
          outpoint: `${hash(10)}:1`,
          txHash: hash(10),
          outputIndex: 1,
          asset: 'USDC_ERC20',
          address: us,
          amount: 7n,
        },
      ],
      spends: [{ txHash: hash(10), address: payer, amount: 5n + 42_000n }],
    });
  });

  test.each<[EvmChain, native: string, token: string]>([
    ['base', 'ETH_BASE', 'USDC_BASE'],
    ['polygon', 'POL', 'USDC_POLYGON'],
  ])('of %s has that network’s assets', async (chain, native, token) => {
    const answers = { eth_getBlockByNumber: aBlock, eth_getBlockReceipts: [aReceipt] };
    const block = await readerOf(answers, chain).block(100);
    expect(block?.payments.map((payment) => payment.asset)).toEqual([native, token]);
  });

  test('includes the L1 data fee of a network on top of Ethereum in the fee', async () => {
    expect(await blockOf(aBlock, [{ ...aReceipt, l1Fee: '0x7' }])).toMatchObject({
      spends: [{ amount: 5n + 42_007n }],
    });
  });

  test('is the same however the node spells addresses and hashes', async () => {
    const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`;
    const transaction = { ...aTransaction, hash: upper(hash(10)), from: upper(payer), to: upper(us) };
    const log = { ...aLog, address: upper(usdc), topics: aLog.topics.map(upper) };
    const receipt = { ...aReceipt, logs: [log] };
    expect(await blockOf({ ...aBlock, transactions: [transaction] }, [receipt])).toEqual(
      await blockOf(aBlock, [aReceipt]),
    );
  });

  test('tells that a failed transaction took the fee from its sender, and nothing else', async () => {
    expect(await blockOf(aBlock, [{ ...aReceipt, status: '0x0' }])).toMatchObject({
      payments: [],
      spends: [{ txHash: hash(10), address: payer, amount: 42_000n }],
    });
  });

  test('may be empty', async () => {
    expect(await blockOf({ ...aBlock, transactions: [] }, [])).toMatchObject({ payments: [], spends: [] });
  });

  test.each<[string, unknown, unknown]>([
    ['the node has no such block', null, null],
    ['the receipts are missing', aBlock, null],
    ['the receipts are of another block', aBlock, [{ ...aReceipt, blockHash: hash(2) }]],
    ['the receipts are of other transactions', aBlock, [{ ...aReceipt, transactionHash: hash(11) }]],
    ['there are too few receipts', aBlock, []],
    ['there are too many receipts', aBlock, [aReceipt, aReceipt]],
    ['it is not the block asked for', { ...aBlock, number: '0x65' }, [aReceipt]],
  ])('is not there while %s', async (_why, block, receipts) => {
    expect(await blockOf(block, receipts)).toBeUndefined();
  });

  test.each<[string, unknown, unknown]>([
    ['has no hash', { ...aBlock, hash: null }, [aReceipt]],
    ['has a transaction that is only a hash', { ...aBlock, transactions: [hash(10)] }, [aReceipt]],
    [
      'has a value that is no number',
      { ...aBlock, transactions: [{ ...aTransaction, value: '5' }] },
      [aReceipt],
    ],
    ['has a receipt without status', aBlock, [{ ...aReceipt, status: undefined }]],
    ['has a status of its own', aBlock, [{ ...aReceipt, status: '0x2' }]],
    ['has a receipt without logs', aBlock, [{ ...aReceipt, logs: undefined }]],
    ['is a text', 'block', [aReceipt]],
  ])('that %s is no answer', async (_what, block, receipts) => {
    await expect(blockOf(block, receipts)).rejects.toMatchObject({ name: 'RpcUnavailable' });
  });

  test('that the node refuses to show is an error, not an empty block', async () => {
    const refused = new RpcRefused('eth_getBlockReceipts', -32_601, 'method not found');
    await expect(blockOf(aBlock, refused)).rejects.toBe(refused);
  });
});

describe('no payment is', () => {
  const paymentsOf = async (transaction: object, receipt: object) =>
    (
      await blockOf({ ...aBlock, transactions: [{ ...aTransaction, ...transaction }] }, [
        { ...aReceipt, ...receipt },
      ])
    )?.payments.map(({ asset, amount }) => [asset, amount]);

  test('a transaction that only makes a contract', async () => {
    expect(await paymentsOf({ to: null }, { logs: [] })).toEqual([]);
  });

  test.each<[string, object]>([
    ['a removed log', { removed: true }],
    ['a log of another contract', { address: address(9) }],
    ['a log without topics', { topics: [] }],
    ['a log with an amount and one topic more', { topics: [...aLog.topics, hash(7)] }],
    ['a log without data', { data: '0x' }],
    ['a log with its amount cut short', { data: '0x05' }],
    ['a log with more than an amount', { data: `${hash(0)}${hash(7).slice(2)}` }],
    ['a log that names nobody', { topics: aLog.topics.slice(0, 2) }],
    [
      'a log that names something wider than an address',
      { topics: [TRANSFER, topic(payer), `0x01${topic(us).slice(4)}`] },
    ],
    ['a log of another event', { topics: [hash(1), topic(payer), topic(us)] }],
    ['a transfer of nothing', { data: hash(0) }],
  ])('%s', async (_what, log) => {
    expect(await paymentsOf({ value: '0x0' }, { logs: [{ ...aLog, ...log }] })).toEqual([]);
  });

  test('a log before or after a good one, which keeps its place', async () => {
    const other = { ...aLog, address: address(9) };
    const block = await blockOf(aBlock, [{ ...aReceipt, logs: [other, aLog, other, aLog] }]);
    expect(block?.payments.map((payment) => payment.outpoint)).toEqual(
      [0, 2, 4].map((n) => `${hash(10)}:${n}`),
    );
  });
});

describe('the source of an internal payment', () => {
  const call = (given: object) => ({ type: 'CALL', from: payer, to: us, value: '0x1', gas: '0x0', ...given });
  const sourceOf = (traces: unknown, transactions: unknown = [hash(10), hash(11)]) =>
    readerOf({
      debug_traceBlockByHash: traces,
      eth_getBlockByHash: { transactions },
    }).balances.internalSource(us, hash(1));
  const outer = (...calls: object[]) => ({ result: call({ to: address(8), calls }) });

  test.each<[string, unknown, string | null]>([
    ['a call below a transaction', [outer(), outer(call({}))], hash(11)],
    ['two floors down', [outer(call({ to: address(9), calls: [call({})] }))], hash(10)],
    ['a contract’s last will', [outer(call({ type: 'SELFDESTRUCT' }))], hash(10)],
    ['named by the node', [{ txHash: hash(77), ...outer(call({})) }], hash(77)],
    ['not the transaction’s own value, which is an ordinary payment', [{ result: call({}) }], null],
    ['not a delegate call, which moves nothing', [outer(call({ type: 'DELEGATECALL' }))], null],
    ['not a call without value', [outer(call({ value: '0x0' })), outer(call({ value: undefined }))], null],
    ['not a call to somebody else', [outer(call({ to: payer }))], null],
    ['not a failed call', [outer(call({ error: 'out of gas' }))], null],
    [
      'not a call below a failed one',
      [outer(call({ to: payer, error: 'reverted', calls: [call({})] }))],
      null,
    ],
    ['not a failed transaction', [{ result: { ...outer(call({})).result, error: 'reverted' } }], null],
    ['not a transaction the node could not trace', [{ error: 'timeout' }, outer(call({}))], hash(11)],
    ['not there in an empty block', [], null],
  ])('is %s', async (_what, traces, source) => {
    expect(await sourceOf(traces)).toBe(source);
  });

  test.each<[string, unknown]>([
    ['does not trace', new RpcRefused('debug_traceBlockByHash', -32_601, 'method not found')],
    ['takes too long', new RpcUnavailable('debug_traceBlockByHash', 'timeout')],
    ['traces in a form of its own', { traces: [] }],
    ['has nothing', null],
  ])('is not known when the node %s', async (_what, traces) => {
    expect(await sourceOf(traces)).toBeNull();
  });
});

test('balances are an error when one of them cannot be read', async () => {
  const refused = new RpcRefused('eth_getBalance', -32_000, 'missing trie node');
  await expect(readerOf({ eth_getBalance: refused }).balances.balancesAt([us], 1)).rejects.toBe(refused);
  await expect(readerOf({ eth_getBalance: null }).balances.balancesAt([us], 1)).rejects.toMatchObject({
    name: 'RpcUnavailable',
  });
});
