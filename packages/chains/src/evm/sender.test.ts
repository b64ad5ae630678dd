import { describe, expect, test } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import { scriptedRpc } from '@quittance/testkit/scripted-node';
import { RpcRefused, RpcUnavailable } from '../json-rpc.ts';
import { feesFor } from './cost.ts';
import type { EvmChain } from './network.ts';
import { createEvmSender } from './sender.ts';
import { openWallet } from './wallet.ts';

const hash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
const to = `0x${'ab'.repeat(20)}`;
const wallet = openWallet('test test test test test test test test test test test junk');
const GWEI = 10n ** 9n;

type Answers = Record<string, unknown | ((params: readonly unknown[]) => unknown)>;

function senderOn(answers: Answers, chain: EvmChain = 'ethereum') {
  const rpc = scriptedRpc((method, params) => {
    const given = answers[method];
    return typeof given === 'function' ? given(params) : given;
  });
  return createEvmSender({ rpc, wallet, chain, chainId: 1, usdcAddress: to });
}

describe('fees', () => {
  test.each<[chain: EvmChain, base: bigint, tip: bigint, maxFee: bigint, maxTip: bigint]>([
    ['ethereum', 20n * GWEI, 2n * GWEI, 42n * GWEI, 2n * GWEI],
    // A node that suggests nothing, or next to it.
    ['ethereum', 7n, 0n, GWEI / 10n + 14n, GWEI / 10n],
    ['base', 7n, 0n, GWEI / 1_000n + 14n, GWEI / 1_000n],
    ['polygon', 7n, 0n, 25n * GWEI + 14n, 25n * GWEI],
    // A node that suggests to give everything away.
    ['ethereum', 20n * GWEI, 10n ** 18n, 45n * GWEI, 5n * GWEI],
    ['ethereum', 10n ** 18n, 1n, 500n * GWEI, GWEI / 10n],
    ['polygon', 10n ** 18n, 10n ** 18n, 5_000n * GWEI, 500n * GWEI],
  ])('on %s for a base fee of %d and a tip of %d', (chain, base, tip, maxFeePerGas, maxPriorityFeePerGas) => {
    expect(feesFor(chain, base, tip)).toEqual({ maxFeePerGas, maxPriorityFeePerGas });
  });

  const silent = new RpcRefused('eth_maxPriorityFeePerGas', -32_601, 'method not found');
  test.each<[string, unknown, maxFee: bigint, maxTip: bigint]>([
    ['the tip that the node tells', '0x3b9aca00', 5n * GWEI, GWEI],
    ['the least tip where it tells none', silent, 4_100_000_000n, GWEI / 10n],
  ])('are of the base fee and %s', async (_what, tip, maxFeePerGas, maxPriorityFeePerGas) => {
    const block = { baseFeePerGas: '0x77359400' };
    const sender = senderOn({ eth_getBlockByNumber: block, eth_maxPriorityFeePerGas: tip });
    expect(await sender.fees()).toEqual({ maxFeePerGas, maxPriorityFeePerGas });
  });
});

describe('the estimated fee', () => {
  const costOn = (base: bigint, tip: bigint, chain: EvmChain, asset: AssetSymbol) =>
    senderOn(
      {
        eth_getBlockByNumber: { baseFeePerGas: `0x${base.toString(16)}` },
        eth_maxPriorityFeePerGas: `0x${tip.toString(16)}`,
      },
      chain,
    ).estimatedFee(asset);

  test.each<[EvmChain, AssetSymbol, base: bigint, tip: bigint, cost: bigint]>([
    ['ethereum', 'ETH', 20n * GWEI, 2n * GWEI, 21_000n * 22n * GWEI],
    ['ethereum', 'USDC_ERC20', 20n * GWEI, 2n * GWEI, 65_000n * 22n * GWEI],
    ['base', 'ETH_BASE', 20n * GWEI, 2n * GWEI, 21_000n * 22n * GWEI],
    ['base', 'USDC_BASE', 20n * GWEI, 2n * GWEI, 65_000n * 22n * GWEI],
    // At least what its validators take.
    ['polygon', 'POL', 20n * GWEI, 2n * GWEI, 21_000n * 45n * GWEI],
    ['polygon', 'USDC_POLYGON', 20n * GWEI, 30n * GWEI, 65_000n * 50n * GWEI],
    // No node is followed beyond what is ever paid.
    ['ethereum', 'ETH', 10n ** 18n, 10n ** 18n, 21_000n * 500n * GWEI],
  ])(
    'on %s of %s, at %d and a tip of %d, is what its gas costs in the next block, within the limits of the network',
    async (chain, asset, base, tip, cost) => {
      expect(await costOn(base, tip, chain, asset)).toBe(cost);
    },
  );

  test('of another network’s asset is not known', async () => {
    await expect(costOn(1n, 1n, 'base', 'ETH')).rejects.toThrow('not an asset of base');
  });
});

describe('the estimate of a transfer', () => {
  const estimateOn = (estimate: unknown, call: unknown = '0x') =>
    senderOn({ eth_estimateGas: estimate, eth_call: call, eth_getBalance: '0xffff' }).estimateTransfer(
      'ETH',
      to,
      units(1n),
    );
  const refused = (code: number, message: string) => new RpcRefused('eth_estimateGas', code, message);

  test.each([
    [3, 'execution reverted'],
    [3, 'execution reverted: not today'],
    [-32_000, 'execution reverted'],
    [-32_000, 'invalid opcode: INVALID'],
    [-32_000, 'out of gas'],
    [-32_000, 'gas required exceeds allowance (30000000)'],
    [-32_000, 'stack underflow (0 <=> 1)'],
    [-32_000, 'invalid jump destination'],
    [-32_015, 'VM execution error.'],
    [-32_603, 'EVM error InvalidFEOpcode'],
  ])('is a verdict on the recipient after %d %s', async (code, message) => {
    expect(await estimateOn(refused(code, message))).toBe('reverts');
    expect(await estimateOn('0x5208', refused(code, message))).toBe('reverts');
  });

  test.each([
    [-32_000, 'insufficient funds for transfer'],
    [-32_003, 'Insufficient funds for gas * price + value'],
    [-32_000, 'header not found'],
    [-32_005, 'daily request count exceeded, request rate limited'],
    [-32_603, 'internal error'],
    [-32_601, 'method not found'],
  ])('is none after %d %s', async (code, message) => {
    await expect(estimateOn(refused(code, message))).rejects.toMatchObject({ name: 'RpcRefused', code });
  });

  test('is none when the money came only between the two questions', async () => {
    let asked = 0;
    const gas = await estimateOn(() => (asked++ === 0 ? refused(3, 'execution reverted') : '0x5208'));
    expect(gas).toBe(21_000n);
  });
});

describe('the status', () => {
  const receipt = {
    blockNumber: '0x64',
    blockHash: hash(1),
    status: '0x1',
    gasUsed: '0x5208',
    effectiveGasPrice: '0x2',
  };
  const statusOn = (canonical: unknown, head = '0x66', more: object = {}) =>
    senderOn({
      eth_getTransactionReceipt: { ...receipt, ...more },
      eth_getTransactionByHash: { hash: hash(9) },
      eth_getBlockByNumber: ([at]: readonly unknown[]) =>
        at === 'latest' ? { number: head, hash: hash(3) } : canonical,
    }).status(hash(9));

  test('is mined when the receipt’s block is in the chain', async () => {
    expect(await statusOn({ number: '0x64', hash: hash(1) })).toEqual({
      state: 'mined',
      height: 100,
      blockHash: hash(1),
      confirmations: 3,
      succeeded: true,
      feePaid: 42_000n,
    });
  });

  test('includes the L1 data fee of a network on top of Ethereum', async () => {
    const canonical = { number: '0x64', hash: hash(1) };
    expect(await statusOn(canonical, '0x66', { l1Fee: '0x7' })).toMatchObject({ feePaid: 42_007n });
  });

  test('is pending when another block, or none, is in its place', async () => {
    expect(await statusOn({ number: '0x64', hash: hash(2) })).toEqual({ state: 'pending' });
    expect(await statusOn(null)).toEqual({ state: 'pending' });
  });

  test('has no confirmation on a node whose head is behind', async () => {
    expect(await statusOn({ number: '0x64', hash: hash(1) }, '0x60')).toMatchObject({ confirmations: 0 });
  });
});

describe('a broadcast', () => {
  const known = { hash: hash(7) };
  const cut = new RpcUnavailable('a call', 'cut');
  const outcomeOf = (sent: unknown, byHash: unknown) =>
    senderOn({ eth_sendRawTransaction: sent, eth_getTransactionByHash: byHash }).broadcast('0x02c0ffee');

  test.each([
    ['without an answer', cut],
    ['answered with the hash of something else', known.hash],
  ])('%s is unknown', async (_what, sent) => {
    expect(await outcomeOf(sent, cut)).toBe('unknown');
  });

  test.each<[message: string, code: number, byHash: unknown, outcome: string]>([
    ['already known', -32_000, cut, 'accepted'],
    ['AlreadyKnown', -32_010, cut, 'accepted'],
    ['transaction already imported', -32_003, cut, 'accepted'],
    ['INTERNAL_ERROR: existing tx with same hash', -32_000, cut, 'accepted'],
    ['Known transaction', -32_603, cut, 'accepted'],
    ['nonce too low', -32_000, known, 'accepted'],
    ['nonce too low', -32_000, null, 'rejected'],
    ['nonce too low', -32_000, cut, 'unknown'],
    ['replacement transaction underpriced', -32_000, known, 'accepted'],
    ['replacement transaction underpriced', -32_000, null, 'rejected'],
    ['insufficient funds for gas * price + value', -32_003, null, 'rejected'],
    ['rlp: value size exceeds available input length', -32_602, null, 'rejected'],
    ['internal error', -32_603, null, 'unknown'],
    ['internal error', -32_603, known, 'accepted'],
    ['limit exceeded', -32_005, null, 'unknown'],
    ['method not found', -32_601, null, 'unknown'],
  ])('refused with "%s" (%d), and by hash %p, is %s', async (message, code, byHash, outcome) => {
    const refused = new RpcRefused('eth_sendRawTransaction', code, message);
    expect(await outcomeOf(refused, byHash)).toBe(outcome);
  });
});
