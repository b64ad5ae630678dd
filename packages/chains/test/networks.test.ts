import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '@quittance/shared/config';
import { type Units, units } from '@quittance/shared/money';
import { deployTestUsdc, mintTestUsdc } from '@quittance/stack/test-usdc';
import { testAnvil } from '@quittance/testkit/engines';
import { z } from 'zod';
import type { ChainReader, EvmSender } from '../src/chain.ts';
import type { EvmSigner } from '../src/evm/signer.ts';
import { openWallet } from '../src/evm/wallet.ts';
import { connectRpc, type Rpc } from '../src/json-rpc.ts';
import { connectReader, connectSender, depositAddresses, openSigner, paymentUri } from '../src/registry.ts';
import { configuredAssets, type EvmSettings, withChains } from '../src/settings.ts';
import { chainSettings } from '../src/settings-schema.ts';
import { PHRASE } from './development-chain.ts';

const BASE_ID = 84_531;
const RICH = `0x${(10n ** 20n).toString(16)}`;

/** Two networks of one kind: nothing but settings tells them apart. */
type Network = {
  settings: EvmSettings;
  node: Awaited<ReturnType<typeof testAnvil>>;
  rpc: Rpc;
  reader: ChainReader;
  sender: EvmSender;
  signer: EvmSigner;
};
const networks: Network[] = [];
let ethereum: Network;
let base: Network;

const schema = withChains(z.object(chainSettings), { xpubs: true });

beforeAll(async () => {
  const nodes = await Promise.all([testAnvil(), testAnvil({ chainId: BASE_ID })]);
  const [ethereumNode, baseNode] = nodes;
  const { accountXpub } = openWallet(PHRASE);
  const { chains } = loadConfig('a service', schema, {
    ETHEREUM_RPC_URL: ethereumNode.rpcUrl,
    ETHEREUM_CHAIN_ID: '31337',
    ETHEREUM_USDC_ADDRESS: await deployTestUsdc(ethereumNode.rpcUrl),
    ETHEREUM_XPUB: accountXpub,
    BASE_RPC_URL: baseNode.rpcUrl,
    BASE_CHAIN_ID: String(BASE_ID),
    BASE_USDC_ADDRESS: await deployTestUsdc(baseNode.rpcUrl),
    BASE_XPUB: accountXpub,
  });
  const connected = await Promise.all(
    chains.map(async (settings, i): Promise<Network> => {
      if (settings.kind !== 'evm') throw new Error('only EVM networks were configured');
      const node = nodes[i] as (typeof nodes)[number];
      const rpc = connectRpc(node.rpcUrl);
      const signer = openSigner(settings, PHRASE);
      const sender = connectSender(settings, signer.addresses);
      await rpc.call('anvil_setBalance', [sender.hotAddress, RICH]);
      await mintTestUsdc(node.rpcUrl, settings.usdcAddress ?? '', sender.hotAddress, 10n ** 9n);
      await rpc.call('anvil_mine', ['0x1']);
      return { settings, node, rpc, sender, signer, reader: connectReader(settings) };
    }),
  );
  networks.push(...connected);
  [ethereum, base] = connected as [Network, Network];
});
afterAll(async () => {
  for (const { reader, sender, rpc, node } of networks) {
    await Promise.all([reader.close(), sender.close(), rpc.close()]);
    await node.stop();
  }
});

async function send(
  { sender, signer }: Network,
  asset: 'ETH' | 'ETH_BASE' | 'USDC_ERC20' | 'USDC_BASE',
  to: string,
  amount: Units,
) {
  const gas = await sender.estimateTransfer(asset, to, amount);
  if (gas === 'reverts') throw new Error('it reverts');
  const [nonce, fees] = [await sender.nonce(sender.hotAddress, 'latest'), await sender.fees()];
  const signed = await signer.signTransfer({ asset, to, amount, nonce, gas, fees });
  expect(await sender.broadcast(signed.raw)).toBe('accepted');
  return signed;
}

describe('two EVM networks', () => {
  test('are two chains with assets of their own, and the same addresses', async () => {
    expect([ethereum, base].map(({ settings }) => configuredAssets(settings))).toEqual([
      ['ETH', 'USDC_ERC20'],
      ['ETH_BASE', 'USDC_BASE'],
    ]);
    await Promise.all([ethereum, base].map(({ reader }) => reader.check()));
    await Promise.all([ethereum, base].map(({ sender }) => sender.check()));
    expect(base.sender.hotAddress).toBe(ethereum.sender.hotAddress);
    const address = depositAddresses(base.settings, base.settings.xpub ?? '')?.at(7);
    expect(address).toBe(ethereum.signer.addresses.depositAddress(7));
    const payment = {
      asset: 'ETH_BASE',
      address: address ?? '',
      amount: units(5n),
      reference: 'inv_1',
    } as const;
    expect(paymentUri(base.settings, payment)).toContain(`@${BASE_ID}?`);
  });

  test('keep money apart that goes to one address on both', async () => {
    const to = ethereum.signer.addresses.depositAddress(11);
    await send(ethereum, 'ETH', to, units(3n));
    await send(base, 'ETH_BASE', to, units(5n));
    for (const { rpc } of [ethereum, base]) await rpc.call('anvil_mine', ['0x1']);
    await send(base, 'USDC_BASE', to, units(7n));
    for (const { rpc } of [ethereum, base]) await rpc.call('anvil_mine', ['0x1']);

    const received = async ({ reader }: Network) =>
      (await reader.blocksAfter(0, 100))
        .flatMap((block) => block.payments)
        .filter((payment) => payment.address === to)
        .map((payment) => [payment.asset, payment.amount]);
    expect(await received(ethereum)).toEqual([['ETH', 3n]]);
    expect(await received(base)).toEqual([
      ['ETH_BASE', 5n],
      ['USDC_BASE', 7n],
    ]);
    expect(await ethereum.sender.balance('ETH', to)).toBe(3n);
    expect(await base.sender.balance('ETH_BASE', to)).toBe(5n);
    expect(await ethereum.sender.balance('USDC_ERC20', to)).toBe(0n);
    expect(await base.sender.balance('USDC_BASE', to)).toBe(7n);
  });
});
