import { randomBytes } from 'node:crypto';
import { connectRpc } from '@quittance/chains/json-rpc';
import { anvil } from '@quittance/stack/anvil-chain';
import type { Nodes } from '@quittance/stack/faucet';
import { createTestClient, http } from 'viem';

const NONCE_BYTES = 16;

/** So many more blocks on each chain that has some when it is told to: Ethereum and Bitcoin. Solana's come by themselves. */
export async function mineBlocks({ ethereum, bitcoin }: Nodes, blocks: number): Promise<void> {
  await Promise.all([
    createTestClient({ chain: anvil, mode: 'anvil', transport: http(ethereum.rpc) }).mine({ blocks }),
    bitcoin === undefined ? undefined : mineOnBitcoin(bitcoin.rpc, blocks),
  ]);
}

async function mineOnBitcoin(url: string, blocks: number): Promise<void> {
  const rpc = connectRpc(url);
  try {
    // To nobody, and to another nobody each time: two equal blocks in the same second would be one.
    const nobody = `raw(6a10${randomBytes(NONCE_BYTES).toString('hex')})`;
    await rpc.call('generatetodescriptor', [blocks, nobody]);
  } finally {
    await rpc.close();
  }
}
