import { openWallet } from '@quittance/chains/evm/wallet';
import { createPublicClient, createTestClient, createWalletClient, type Hex, http, parseEther } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { anvil } from 'viem/chains';
import { deployTestUsdc } from './test-usdc.ts';

export const CHAIN_ID = anvil.id;

/** anvil's own development words: every account of theirs is rich, and everybody knows their keys. */
const FAUCET_WORDS = 'test test test test test test test test test test test junk';
export const faucet = mnemonicToAccount(FAUCET_WORDS);

const HOT_WALLET_FLOAT = parseEther('10');
const HOT_WALLET_LOW = parseEther('5');

export function ethereumFacts(walletSeed: string): { xpub: string; hotAddress: string } {
  const wallet = openWallet(walletSeed);
  return { xpub: wallet.accountXpub, hotAddress: wallet.hotAddress };
}

/**
 * Makes the development chain ready for use, once: the test USD Coin, and Ether in the hot wallet to pay
 * its transactions with.
 * @returns the token's address.
 */
export async function prepareEthereum(rpcUrl: string, hotAddress: string): Promise<string> {
  const usdc = await deployTestUsdc(rpcUrl);
  const transport = http(rpcUrl);
  const node = createPublicClient({ chain: anvil, transport });
  const address = hotAddress as Hex;
  if ((await node.getBalance({ address })) < HOT_WALLET_LOW) {
    const client = createWalletClient({ account: faucet, chain: anvil, transport });
    await client.sendTransaction({ to: address, value: HOT_WALLET_FLOAT });
    await createTestClient({ chain: anvil, mode: 'anvil', transport }).mine({ blocks: 1 });
  }
  return usdc;
}
