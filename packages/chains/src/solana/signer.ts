import { invariant } from '@quittance/shared/result';
import type { WalletAddresses } from '../chain.ts';
import type { Ed25519Key } from '../hot-key.ts';
import { mintOf, type SolanaNetwork } from './network.ts';
import {
  nativeSweep,
  type SolanaNativeSweepOrder,
  type SolanaSigned,
  type SolanaTokenSweepOrder,
  type SolanaTransferOrder,
  sign,
  tokenSweep,
  transferPlan,
} from './transaction.ts';
import { keyPairOf, type SolanaWallet } from './wallet.ts';

/**
 * Signs complete orders with the wallet's keys. Asks no node. The same order gives the same bytes as long as the hot key gives the
 * same signatures.
 */
export type SolanaSigner = {
  addresses: WalletAddresses;
  signTransfer(order: SolanaTransferOrder): Promise<SolanaSigned>;
  signNativeSweep(order: SolanaNativeSweepOrder): Promise<SolanaSigned>;
  signTokenSweep(order: SolanaTokenSweepOrder): Promise<SolanaSigned>;
};

/** @param hotKey the key of the hot wallet, where it is not that of the wallet's phrase */
export function createSolanaSigner(
  network: SolanaNetwork,
  wallet: SolanaWallet,
  hotKey?: Ed25519Key,
): SolanaSigner {
  const { depositAddress, depositKeyPair } = wallet;
  const hotKeyPair = hotKey === undefined ? wallet.hotKeyPair : keyPairOf(hotKey);
  const hotAddress = hotKeyPair.address;
  return {
    // There are no public keys from which these could be derived.
    addresses: { hotAddress, depositAddress },

    signTransfer: async (order) => sign(await transferPlan(network, hotAddress, order), [hotKeyPair]),

    async signNativeSweep(order) {
      const deposit = depositKeyPair(order.index);
      return sign(nativeSweep(hotAddress, deposit.address, order), [hotKeyPair, deposit]);
    },

    async signTokenSweep(order) {
      const mint = mintOf(network, order.asset);
      invariant(mint !== undefined, 'a token sweep moves tokens');
      const deposit = depositKeyPair(order.index);
      return sign(await tokenSweep(hotAddress, deposit.address, mint, order), [hotKeyPair, deposit]);
    },
  };
}
