import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { concat, encodeFunctionData, type Hex, pad } from 'viem';
import type { Payment } from '../src/chain.ts';
import { createEvmReader } from '../src/evm/reader.ts';
import {
  abi,
  CHAIN_ID,
  type DevelopmentChain,
  developmentChain,
  newAddress,
  tokenCall,
} from './development-chain.ts';

let chain: DevelopmentChain;
let reader: ReturnType<typeof createEvmReader>;
let to: Hex;

beforeAll(async () => {
  chain = await developmentChain();
  reader = readerOf(chain.usdc);
});
afterAll(() => chain.stop());
beforeEach(() => {
  to = newAddress();
});

const readerOf = (usdcAddress?: string, chainId: number = CHAIN_ID) =>
  createEvmReader({ rpc: chain.rpc, chain: 'ethereum', chainId, usdcAddress });

const send = (transaction: Parameters<DevelopmentChain['send']>[0]) => chain.send(transaction);

const transferOf = (recipient: Hex, amount: bigint) =>
  encodeFunctionData({ abi, functionName: 'transfer', args: [recipient, amount] });
const sendUsdc = (recipient: Hex, amount: bigint) =>
  send({ to: chain.usdc, data: transferOf(recipient, amount) });

/** Puts code at an address by itself, without a constructor. */
async function deployCode(bytecode: Hex): Promise<Hex> {
  const address = newAddress();
  await chain.client.setCode({ address, bytecode });
  return address;
}

/** The newest block as the reader sees it, which must be there. */
async function newest() {
  const { height } = await reader.head();
  const block = await reader.block(height);
  if (block === undefined) throw new Error(`no block ${height}`);
  return block;
}

async function mine() {
  await chain.client.mine({ blocks: 1 });
  return await newest();
}

const paidTo = (payments: Payment[], address: string) =>
  payments.filter((payment) => payment.address === address);

describe('a block', () => {
  test('counts the logs of a transaction from its first, whatever other logs the block has', async () => {
    const other = newAddress();
    const calls = [transferOf(to, 1n), transferOf(other, 2n)].map((data) => tokenCall(chain.usdc, data));
    const many = await deployCode(concat([...calls, '0x00']));
    await sendUsdc(newAddress(), 1n);
    await sendUsdc(many, 5n);
    await mine();
    await sendUsdc(newAddress(), 1n);
    const txHash = await send({ to: many });
    const { payments } = await mine();
    expect(paidTo(payments, to)).toMatchObject([{ outpoint: `${txHash}:1`, amount: 1n }]);
    expect(paidTo(payments, other)).toMatchObject([{ outpoint: `${txHash}:2`, amount: 2n }]);
  });

  test('tells what left an address: value and fee, of a failed transaction only the fee', async () => {
    const paid = await send({ to, value: 7n });
    const failed = await sendUsdc(to, 10n ** 30n);
    const { spends, payments } = await mine();
    const fee = async (hash: Hex) => {
      const { gasUsed, effectiveGasPrice } = await chain.client.getTransactionReceipt({ hash });
      return gasUsed * effectiveGasPrice;
    };
    expect((await chain.client.getTransactionReceipt({ hash: failed })).status).toBe('reverted');
    expect(spends).toEqual([
      { txHash: paid, address: chain.payer, amount: 7n + (await fee(paid)) },
      { txHash: failed, address: chain.payer, amount: await fee(failed) },
    ]);
    expect(paidTo(payments, to)).toMatchObject([{ amount: 7n }]);
  });
});

describe('a payment by a contract', () => {
  test('is in no transaction, is seen in the balance, and its source is found by a trace', async () => {
    const other = newAddress();
    const data = encodeFunctionData({ abi, functionName: 'split', args: [[to, other, to]] });
    await send({ to: newAddress(), value: 1n });
    const txHash = await send({ to: chain.splitter, data, value: 30n });
    const { payments, height, hash } = await mine();
    expect(paidTo(payments, to)).toEqual([]);
    const balances = async (at: number) =>
      Object.fromEntries(await reader.balances.balancesAt([to, other], at));
    expect(await balances(height - 1)).toEqual({ [to]: 0n, [other]: 0n });
    expect(await balances(height)).toEqual({ [to]: 20n, [other]: 10n });
    expect(await reader.balances.internalSource(to, hash)).toBe(txHash);
    expect(await reader.balances.internalSource(other, hash)).toBe(txHash);
  });

  test('has no source when there was none, or when what paid was undone', async () => {
    // Pays `to`, then fails as a whole: 1 wei to `to` by CALL, then REVERT.
    const undone = await deployCode(concat(['0x5f5f5f5f600173', to, '0x5af1505f5ffd']));
    await send({ to: undone, value: 5n });
    await send({ to, value: 5n });
    const { hash } = await mine();
    expect(await reader.balances.internalSource(to, hash)).toBeNull();
    expect(await reader.balances.internalSource(newAddress(), hash)).toBeNull();
    expect(await reader.balances.internalSource(to, pad('0x01'))).toBeNull();
  });

  test('is weighed for more addresses than fit into one question', async () => {
    const addresses = Array.from({ length: 250 }, newAddress);
    await send({ to: addresses[249] as Hex, value: 3n });
    const { height } = await mine();
    const balances = await reader.balances.balancesAt(addresses, height);
    expect(balances.size).toBe(250);
    expect([...balances.values()].filter((balance) => balance > 0n)).toEqual([3n]);
    expect(balances.get(addresses[249] as Hex)).toBe(3n);
    expect(await reader.balances.balancesAt([], height)).toEqual(new Map());
  });
});

describe('the check of the network', () => {
  const checking = (chainId: number, usdcAddress?: string) => readerOf(usdcAddress, chainId).check();

  test('passes where everything is as configured, with and without a token', async () => {
    await expect(checking(CHAIN_ID, chain.usdc)).resolves.toBeUndefined();
    await expect(checking(CHAIN_ID)).resolves.toBeUndefined();
  });

  test('refuses another chain, and what is not the token', async () => {
    const noToken = newAddress();
    const refusals: [() => Promise<void>, string][] = [
      [() => checking(1, chain.usdc), 'the node is on chain 31337, configured is 1'],
      [() => checking(CHAIN_ID, noToken), `there is no contract at ${noToken}, configured as USDC_ERC20`],
      [() => checking(CHAIN_ID, chain.splitter), 'it does not have 6 decimals'],
      // A token of 18 decimals, and code that answers with too few bytes.
      [async () => checking(CHAIN_ID, await deployCode('0x60125f5260205ff3')), 'it does not have 6 decimals'],
      [async () => checking(CHAIN_ID, await deployCode('0x60065f5260015ff3')), 'it does not have 6 decimals'],
    ];
    for (const [check, message] of refusals) {
      await expect(check()).rejects.toMatchObject({
        name: 'WrongNetwork',
        message: expect.stringContaining(message),
      });
    }
  });
});
