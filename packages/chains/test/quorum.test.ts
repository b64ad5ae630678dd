import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { Secret } from '@quittance/shared/secret';
import { testAnvil } from '@quittance/testkit/engines';
import { parseEther } from 'viem';
import type { ChainReader, EvmSender } from '../src/chain.ts';
import type { EvmSigner } from '../src/evm/signer.ts';
import { connectRpc, type Rpc } from '../src/json-rpc.ts';
import { connectReader, connectSender, openSigner } from '../src/registry.ts';
import type { EvmSettings } from '../src/settings.ts';
import {
  CHAIN_ID,
  type DevelopmentChain,
  developmentChain,
  newAddress,
  PHRASE,
} from './development-chain.ts';

/** Two real nodes of one chain: what the first has, the second gets when it is told to catch up. */
let first: DevelopmentChain;
let second: Awaited<ReturnType<typeof testAnvil>>;
let secondRpc: Rpc;
let settings: EvmSettings;
let reader: ChainReader;
let sender: EvmSender;
let signer: EvmSigner;

const catchUp = async () => {
  const state = await first.rpc.call('anvil_dumpState', []);
  expect(await secondRpc.call('anvil_loadState', [state])).toBe(true);
};

beforeAll(async () => {
  first = await developmentChain();
  second = await testAnvil({ slotsInAnEpoch: 2 });
  secondRpc = connectRpc(second.rpcUrl);
  settings = {
    kind: 'evm',
    chain: 'ethereum',
    rpcUrls: [new Secret(first.node.rpcUrl), new Secret(second.rpcUrl)],
    chainId: CHAIN_ID,
    usdcAddress: first.usdc,
  };
  signer = openSigner(settings, PHRASE);
  sender = connectSender(settings, signer.addresses);
  await first.client.setBalance({ address: sender.hotAddress as `0x${string}`, value: parseEther('10') });
  await first.client.mine({ blocks: 3 });
});
afterAll(async () => {
  await Promise.all([sender.close(), secondRpc.close()]);
  await Promise.all([first.stop(), second.stop()]);
});
beforeEach(async () => {
  await catchUp();
  // A reader remembers how far it has come.
  reader = connectReader(settings);
});
afterEach(() => reader.close());

const pay = (amount: bigint) => {
  const to = newAddress();
  return first.client
    .sendTransaction({ account: first.payer, to, value: amount })
    .then((txHash) => ({ to, txHash }));
};

describe('two nodes', () => {
  test('of which one lags show what both have, and the rest when it has caught up', async () => {
    const before = await reader.head();
    const { to, txHash } = await pay(7n);
    await first.client.mine({ blocks: 2 });
    expect(await reader.head()).toEqual(before);
    expect(await reader.blocksAfter(before.height, 10)).toEqual([]);
    await expect(reader.block(before.height + 1)).rejects.toMatchObject({ name: 'NoQuorum' });
    await catchUp();
    expect((await reader.head()).height).toBe(before.height + 2);
    const [block] = await reader.blocksAfter(before.height, 10);
    expect(block?.payments).toMatchObject([{ outpoint: `${txHash}:0`, address: to, amount: 7n }]);
    expect(await reader.balances?.balancesAt([to], before.height + 2)).toEqual(new Map([[to, 7n]]));
  });

  test('get a payout both, and tell of it what both know', async () => {
    const to = newAddress();
    const order = {
      asset: 'ETH',
      to,
      amount: units(5n),
      nonce: await sender.nonce(sender.hotAddress, 'latest'),
      gas: 21_000n,
      fees: await sender.fees(),
    } as const;
    const signed = await signer.signTransfer(order);
    expect(await signer.signTransfer(order)).toEqual(signed);
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    expect(await secondRpc.call('eth_getTransactionByHash', [signed.txHash])).not.toBeNull();
    expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' });
    await first.client.mine({ blocks: 1 });
    await expect(sender.status(signed.txHash)).rejects.toMatchObject({ name: 'NoQuorum' });
    await expect(sender.nonce(sender.hotAddress, 'latest')).rejects.toMatchObject({ name: 'NoQuorum' });
    await expect(sender.balance('ETH', to)).rejects.toMatchObject({ name: 'NoQuorum' });
    await catchUp();
    expect(await sender.status(signed.txHash)).toMatchObject({ state: 'mined', succeeded: true });
    expect(await sender.balance('ETH', to)).toBe(5n);
    expect(await sender.nonce(sender.hotAddress, 'latest')).toBe(order.nonce + 1);
  });
});

describe('three nodes', () => {
  // Two ways to the same node, and a port where nobody listens.
  const oneDown = () => ({
    ...settings,
    rpcUrls: [new Secret('http://127.0.0.1:1'), new Secret(first.node.rpcUrl), new Secret(first.node.rpcUrl)],
  });

  test('of which one is down pay a payout and read its block', async () => {
    const three = { reader: connectReader(oneDown()), sender: connectSender(oneDown(), signer.addresses) };
    try {
      await Promise.all([three.reader.check(), three.sender.check()]);
      const to = newAddress();
      const { hotAddress } = three.sender;
      const before = await three.reader.head();
      const [nonce, fees] = [await three.sender.nonce(hotAddress, 'latest'), await three.sender.fees()];
      const gas = await three.sender.estimateTransfer('ETH', to, units(5n));
      if (gas === 'reverts') throw new Error('a transfer to a fresh address works');
      const order = { asset: 'ETH', to, amount: units(5n), nonce, gas, fees } as const;
      const signed = await signer.signTransfer(order);
      expect(await three.sender.broadcast(signed.raw)).toBe('accepted');
      await first.client.mine({ blocks: 3 });
      expect(await three.sender.status(signed.txHash)).toMatchObject({ state: 'mined', succeeded: true });
      const blocks = await three.reader.blocksAfter(before.height, 10);
      expect(blocks.flatMap(({ payments }) => payments)).toMatchObject([{ address: to, amount: 5n }]);
      const { height } = await three.reader.head();
      expect(await three.reader.balances?.balancesAt([to], height)).toEqual(new Map([[to, 5n]]));
      const used = await three.sender.findByNonce(hotAddress, nonce, before.height + 1, height);
      expect(used?.txHash).toBe(signed.txHash);
    } finally {
      await Promise.all([three.reader.close(), three.sender.close()]);
    }
  });
});
