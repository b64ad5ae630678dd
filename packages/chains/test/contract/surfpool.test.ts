import { units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { payOnSolana } from '@quittance/stack/solana';
import { eventually } from '@quittance/testkit/eventually';
import type { Address } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { newAddress, solanaChain } from '../solana-chain.ts';
import { contract } from './contract.ts';
import { connections, type Fixture } from './fixture.ts';

const SOL = 10n ** 9n;

contract({
  name: 'Solana (surfpool)',
  cannot: {
    reorg: 'finalized blocks stay, and the node makes no forks',
    balances: 'money leaves a trace',
  },
  open: openSurfpool,
});

async function openSurfpool(): Promise<Fixture> {
  const chain = await solanaChain({ lamports: 1_000n * SOL, usdc: 1_000_000n });
  const connected = connections<'solana'>(
    chain.node.rpcUrl,
    { kind: 'solana', chain: 'solana', network: 'local', usdcMint: chain.network.usdcMint },
    { network: 'devnet' },
  );
  const { reader, sender } = connected;
  const give = (to: string, amount: bigint) =>
    getTransferSolInstruction({ source: chain.payer, destination: to as Address, amount });
  // eslint-disable-next-line no-restricted-syntax -- a slot
  const newestSlot = async () => Number(await chain.rpc.call('getSlot', [{ commitment: 'processed' }]));

  /** The node makes blocks by itself: what was sent before now is final when these are. */
  async function mine(blocks: number): Promise<void> {
    const wanted = (await newestSlot()) + blocks;
    await eventually(async () => invariant((await reader.head()).height > wanted, 'the blocks are final'));
  }
  await mine(1);

  return {
    assets: ['SOL', 'USDC_SOL'],
    manyOf: 'SOL',
    ...connected,
    newAddress,
    amount: (asset) => units(asset === 'SOL' ? 1_000_000_001n : 25_000_001n),
    pay: (payments) =>
      payOnSolana(
        chain.faucet,
        payments.map(({ asset, address, amount }) => ({ asset, to: address, amount })),
      ),
    payInVain: (address) => chain.send([give(address, SOL), give(newAddress(), 10n ** 17n)]),
    mine,
    async order(to, amount) {
      const order = {
        asset: 'SOL',
        to,
        amount,
        lifetime: await sender.lifetime(),
        priorityFee: await sender.priorityFee(),
        tokenAccountRent: (await sender.rents()).tokenAccount,
      } as const;
      return () => connected.signAgain((fresh) => fresh.signTransfer(order));
    },
    wealth: () => sender.balance('SOL', sender.hotAddress),
    async stop() {
      await connected.close();
      await chain.stop();
    },
  };
}
