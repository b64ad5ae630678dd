import { units } from '@quittance/shared/money';
import { Secret } from '@quittance/shared/secret';
import { payOnSolana } from '@quittance/stack/solana';
import type { Address } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { connectReader, connectSender } from '../../src/registry.ts';
import type { SolanaSettings } from '../../src/settings.ts';
import { newAddress, PHRASE, solanaChain } from '../solana-chain.ts';
import { type Candidate, eventually, type Fixture } from './fixture.ts';

const SOL = 10n ** 9n;

export const surfpoolCandidate: Candidate = {
  name: 'Solana (surfpool)',
  cannot: {
    reorg: 'finalized blocks stay, and the node makes no forks',
    balances: 'money leaves a trace',
  },
  open: openSurfpool,
};

async function openSurfpool(): Promise<Fixture> {
  const chain = await solanaChain({ lamports: 1_000n * SOL, usdc: 1_000_000n });
  const settings: SolanaSettings = {
    kind: 'solana',
    chain: 'solana',
    rpcUrls: [new Secret(chain.node.rpcUrl)],
    network: 'local',
    usdcMint: chain.network.usdcMint,
  };
  const reader = connectReader(settings);
  const sender = connectSender(settings, PHRASE);
  const give = (to: string, amount: bigint) =>
    getTransferSolInstruction({ source: chain.payer, destination: to as Address, amount });
  // eslint-disable-next-line no-restricted-syntax -- a slot
  const newestSlot = async () => Number(await chain.rpc.call('getSlot', [{ commitment: 'processed' }]));

  /** The node makes blocks by itself: what was sent before now is final when these are. */
  async function mine(blocks: number): Promise<void> {
    const wanted = (await newestSlot()) + blocks;
    await eventually('the blocks are final', async () =>
      (await reader.head()).height > wanted ? true : undefined,
    );
  }
  await mine(1);

  return {
    assets: ['SOL', 'USDC_SOL'],
    manyOf: 'SOL',
    reader,
    sender,
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
      return async () => {
        const fresh = connectSender(settings, PHRASE);
        try {
          return await fresh.signTransfer(order);
        } finally {
          await fresh.close();
        }
      };
    },
    wealth: () => sender.balance('SOL', sender.hotAddress),
    elsewhere: () => {
      const other = { ...settings, network: 'devnet' } as const;
      return { reader: connectReader(other), sender: connectSender(other, PHRASE) };
    },
    nobody: () => {
      const away = { ...settings, rpcUrls: [new Secret('http://127.0.0.1:1')] };
      return { reader: connectReader(away), sender: connectSender(away, PHRASE) };
    },
    async stop() {
      await Promise.all([reader.close(), sender.close()]);
      await chain.stop();
    },
  };
}
