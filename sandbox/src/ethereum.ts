import { createWallet } from '@quittance/chains/evm/wallet';
import { createPublicClient, createWalletClient, http, parseEther } from 'viem';
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
  const wallet = createWallet(walletSeed);
  return { xpub: wallet.xpub, hotAddress: wallet.hotAddress };
}
