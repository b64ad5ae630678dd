import { invariant } from '@quittance/shared/result';
import { HARDENED_OFFSET, HDKey } from '@scure/bip32';
import { seedOf } from '../recovery-phrase.ts';
import { addressOf } from './address.ts';
import { type BitcoinNetwork, factsOf } from './network.ts';

/**
 * Deposits derive from the account that gives out addresses. The hot wallet and its change derive from another account, so
 * that the extended public key of the first shows nothing of them.
 */
export type Branch = 'deposit' | 'hot' | 'change';

/** The keys. Only the payouts service and the sandbox open one; nothing that can be printed holds a secret. */
export type BitcoinWallet = {
  hotAddress: string;
  address(branch: Branch, index: number): string;
  /** What a service that only gives out addresses is configured with: xpub… or tpub… */
  accountXpub: string;
  /** The secret of that address, for signing alone. */
  privateKey(branch: Branch, index: number): Uint8Array;
};

/** Opens the wallet of a BIP-39 recovery phrase. The error of a wrong one does not repeat it. */
export function openBitcoinWallet(network: BitcoinNetwork, phrase: string): BitcoinWallet {
  const { slip44, form } = factsOf(network);
  const versions = slip44 === 0 ? undefined : { public: 0x043587cf, private: 0x04358394 };
  const purpose = HDKey.fromMasterSeed(seedOf(phrase), versions).derive(`m/84'/${slip44}'`);
  const account = purpose.deriveChild(HARDENED_OFFSET);
  const treasury = purpose.deriveChild(HARDENED_OFFSET + 1);
  const parents: Record<Branch, HDKey> = {
    deposit: account.deriveChild(0),
    hot: treasury.deriveChild(0),
    change: treasury.deriveChild(1),
  };

  function keyOf(branch: Branch, index: number): HDKey {
    invariant(index >= 0 && index < HARDENED_OFFSET, 'a public key has 2^31 children');
    invariant(branch !== 'hot' || index === 0, 'there is one hot address');
    return parents[branch].deriveChild(index);
  }
  function address(branch: Branch, index: number): string {
    const { publicKey } = keyOf(branch, index);
    invariant(publicKey !== null, 'an extended key has a public key');
    return addressOf(form, publicKey);
  }

  return {
    hotAddress: address('hot', 0),
    address,
    accountXpub: account.publicExtendedKey,
    privateKey(branch, index) {
      const { privateKey } = keyOf(branch, index);
      invariant(privateKey !== null, 'this key can sign');
      return privateKey;
    },
  };
}
