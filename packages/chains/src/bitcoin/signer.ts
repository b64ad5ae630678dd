import type { Secp256k1Key } from '../hot-key.ts';
import type { BitcoinNetwork } from './network.ts';
import { type SignedSpend, type Spend, signSpend } from './spend.ts';
import { type BitcoinAddresses, type BitcoinWallet, keysOf } from './wallet.ts';

/**
 * Signs complete orders with the wallet's keys. Asks no node. The same order gives the same bytes as long as the hot key gives the
 * same signatures.
 */
export type BitcoinSigner = {
  addresses: BitcoinAddresses;
  signSpend(spend: Spend): Promise<SignedSpend>;
};

/** @param hotKey the key of the hot wallet, where it is not that of the wallet's phrase */
export function createBitcoinSigner(
  network: BitcoinNetwork,
  wallet: BitcoinWallet,
  hotKey?: Secp256k1Key,
): BitcoinSigner {
  const keys = keysOf(network, wallet, hotKey);
  const { hotAddress, address } = keys;
  return {
    addresses: { hotAddress, address },
    signSpend: (spend) => signSpend(network, keys, spend),
  };
}
