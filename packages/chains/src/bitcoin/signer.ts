import type { BitcoinNetwork } from './network.ts';
import { type SignedSpend, type Spend, signSpend } from './spend.ts';
import type { BitcoinAddresses, BitcoinWallet } from './wallet.ts';

/** Signs complete orders with the wallet's keys. Asks no node; the same order gives the same bytes. */
export type BitcoinSigner = {
  addresses: BitcoinAddresses;
  signSpend(spend: Spend): Promise<SignedSpend>;
};

export function createBitcoinSigner(network: BitcoinNetwork, wallet: BitcoinWallet): BitcoinSigner {
  const { hotAddress, address } = wallet;
  return {
    addresses: { hotAddress, address },
    signSpend: async (spend) => signSpend(network, wallet, spend),
  };
}
