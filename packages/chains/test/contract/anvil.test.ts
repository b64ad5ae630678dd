import type { AssetSymbol } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import { mintTestUsdc } from '@quittance/stack/test-usdc';
import { concat, encodeFunctionData, type Hex, parseEther } from 'viem';
import { abi, CHAIN_ID, developmentChain, newAddress, tokenCall } from '../development-chain.ts';
import { contract } from './contract.ts';
import { connections, type Fixture } from './fixture.ts';

contract({
  name: 'Ethereum (anvil)',
  cannot: { pending: 'what waits is not watched' },
  open: openAnvil,
});

async function openAnvil(): Promise<Fixture> {
  const chain = await developmentChain();
  const { client, usdc } = chain;
  const connected = connections<'evm'>(
    chain.node.rpcUrl,
    { kind: 'evm', chain: 'ethereum', chainId: CHAIN_ID, usdcAddress: usdc },
    { chainId: 1 },
  );
  const { sender } = connected;
  await client.setBalance({ address: sender.hotAddress as Hex, value: parseEther('1000') });
  await client.mine({ blocks: 1 });

  const { send } = chain;
  const transfer = (to: string, amount: bigint): Hex =>
    encodeFunctionData({ abi, functionName: 'transfer', args: [to as Hex, amount] });

  /** A contract with tokens of its own, that pays them all in one transaction. */
  async function payMany(payments: readonly { asset: AssetSymbol; address: string; amount: bigint }[]) {
    if (payments.some(({ asset }) => asset !== 'USDC_ERC20')) throw new Error('only tokens');
    const address = newAddress();
    const bytecode = concat([
      ...payments.map((one) => tokenCall(usdc, transfer(one.address, one.amount))),
      '0x00',
    ]);
    await client.setCode({ address, bytecode });
    await mintTestUsdc(chain.node.rpcUrl, usdc, address, 10n ** 12n);
    return await send({ to: address });
  }

  async function rawTransactions(depth: number): Promise<Hex[]> {
    const height = await client.getBlockNumber();
    const blocks = await Promise.all(
      Array.from({ length: depth }, (_, i) => client.getBlock({ blockNumber: height - BigInt(i) })),
    );
    return await Promise.all(
      blocks
        .toReversed()
        .flatMap(({ transactions }) => transactions)
        .map(async (hash) => (await chain.rpc.call('eth_getRawTransactionByHash', [hash])) as Hex),
    );
  }

  return {
    assets: ['ETH', 'USDC_ERC20'],
    manyOf: 'USDC_ERC20',
    ...connected,
    newAddress,
    amount: (asset) => units(asset === 'ETH' ? 1_000_000_000_000_000_001n : 25_000_001n),
    async pay(payments) {
      const [first] = payments;
      if (first === undefined || payments.length > 1) return await payMany(payments);
      const { asset, address, amount } = first;
      return asset === 'ETH'
        ? await send({ to: address as Hex, value: amount })
        : await send({ to: usdc, data: transfer(address, amount) });
    },
    payInVain: (address) => send({ to: usdc, data: transfer(address, 10n ** 30n) }),
    mine: (blocks) => client.mine({ blocks }),
    async reorg(depth, fate) {
      const raw = fate === 'again' ? await rawTransactions(depth) : [];
      await chain.reorg(
        depth,
        raw.map((one) => [one, 0]),
      );
      await client.mine({ blocks: 1 });
    },
    async order(to, amount) {
      const [nonce, fees] = [await sender.nonce(sender.hotAddress, 'latest'), await sender.fees()];
      const order = { asset: 'ETH', to, amount, nonce, gas: 21_000n, fees } as const;
      return () => connected.signAgain((fresh) => fresh.signTransfer(order));
    },
    wealth: () => sender.balance('ETH', sender.hotAddress),
    async stop() {
      await connected.close();
      await chain.stop();
    },
  };
}
