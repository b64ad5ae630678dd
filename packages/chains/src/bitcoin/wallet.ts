import { secp256k1 } from '@noble/curves/secp256k1.js';
import { assets } from '@quittance/shared/assets';
import { formatUnits, type Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { HARDENED_OFFSET, HDKey } from '@scure/bip32';
import { Address, OutScript } from '@scure/btc-signer';
import { hash160 } from '@scure/btc-signer/utils.js';
import type { DepositAddresses } from '../chain.ts';
import type { Secp256k1Key } from '../hot-key.ts';
import { addressesBelow, seedOf } from '../keys.ts';
import { type AddressForm, type BitcoinNetwork, factsOf } from './network.ts';

/**
 * The canonical form of an address somebody typed, or undefined when it is none of this network: P2PKH, P2SH, P2WPKH,
 * P2WSH and P2TR. Witness versions nobody has given a meaning to yet, and BIP 433's anchors, are valid for a node but
 * can be spent by anyone who likes, so they are refused like a typing error; so is a Taproot key that is no point of
 * the curve, from which nobody could ever spend.
 */
export function checkAddress(network: BitcoinNetwork, text: string): string | undefined {
  if (!/^[0-9A-Za-z]{14,74}$/.test(text)) return undefined;
  const { form } = factsOf(network);
  try {
    const decoded = Address(form).decode(text);
    if (decoded.type === 'p2a') return undefined;
    // Throws for a Taproot key that is no point.
    OutScript.encode(decoded);
    return Address(form).encode(decoded);
  } catch {
    return undefined;
  }
}

/** The bytes that pay a canonical address of this network. */
export function scriptOf(network: BitcoinNetwork, address: string): Uint8Array {
  return OutScript.encode(Address(factsOf(network).form).decode(address));
}

/** How extended keys begin, and of which networks those are. */
const keyForms = {
  xpub: { versions: { public: 0x0488b21e, private: 0x0488ade4 }, slip44: 0 },
  zpub: { versions: { public: 0x04b24746, private: 0x04b2430c }, slip44: 0 },
  tpub: { versions: { public: 0x043587cf, private: 0x04358394 }, slip44: 1 },
  vpub: { versions: { public: 0x045f1cf6, private: 0x045f18bc }, slip44: 1 },
} as const;

/** The addresses below an account's extended public key (BIP-84) of this network, see addressesBelow. */
export function depositAddresses(network: BitcoinNetwork, xpub: string): DepositAddresses {
  if (/^[a-z]prv/.test(xpub)) throw new Error('this is a private key; give the extended public key, xpub…');
  const { form, slip44 } = factsOf(network);
  const prefix = xpub.slice(0, 4);
  const known = Object.entries(keyForms).find(([name]) => name === prefix)?.[1];
  if (known === undefined)
    throw new Error('this is not an extended public key: it begins with xpub, zpub, tpub or vpub');
  if (known.slip44 !== slip44)
    throw new Error(`an extended public key that begins with ${prefix} is not one of ${network}`);
  return addressesBelow(xpub, {
    path: `m/84'/${slip44}'/0'`,
    addressOf: (publicKey) => addressOf(form, publicKey.toBytes()),
    versions: known.versions,
  });
}

/** P2WPKH, of a compressed public key. */
export function addressOf(form: AddressForm, key: Uint8Array): string {
  return Address(form).encode({ type: 'wpkh', hash: hash160(key) });
}

/** What a wallet opens to pay `amount` to `address`, both filled in (BIP-21). */
export function paymentUri(address: string, amount: Units): string {
  return `bitcoin:${address}?amount=${formatUnits(amount, assets.BTC.decimals)}`;
}

/**
 * Deposits derive from the account that gives out addresses. The hot wallet and its change derive from another account, so
 * that the extended public key of the first shows nothing of them.
 */
export const branches = ['deposit', 'hot', 'change'] as const;
export type Branch = (typeof branches)[number];

/** The addresses of a wallet, without its keys. Canonical. */
export type BitcoinAddresses = {
  hotAddress: string;
  address(branch: Branch, index: number): string;
};

/** The keys. Only the signer and tools of the operator open one; nothing that can be printed holds a secret. */
export type BitcoinWallet = BitcoinAddresses & {
  /** What a service that only gives out addresses is configured with: xpub… or tpub… */
  accountXpub: string;
  /** The secret of that address, for signing alone. */
  privateKey(branch: Branch, index: number): Uint8Array;
};

/** Addresses, and who signs for each. */
export type BitcoinKeys = BitcoinAddresses & {
  key(branch: Branch, index: number): Secp256k1Key;
  /** For so long the inputs of one transaction are signed. */
  withinMs: number;
};

/** The signer holds a lock of its database meanwhile. */
const SIGNED_WITHIN_MS = 5_000;

/**
 * The keys of a wallet. With `hotKey`, which nothing can be derived from, the hot wallet has one address, to which change returns too:
 * every index of its branches is that address.
 */
export function keysOf(network: BitcoinNetwork, wallet: BitcoinWallet, hotKey?: Secp256k1Key): BitcoinKeys {
  const { hotAddress, address } = wallet;
  const derived = (branch: Branch, index: number) => keyOf(wallet.privateKey(branch, index));
  if (hotKey === undefined) return { hotAddress, address, key: derived, withinMs: Number.POSITIVE_INFINITY };
  const { form } = factsOf(network);
  const only = addressOf(form, hotKey.publicKey);
  return {
    hotAddress: only,
    address: (branch, index) => (branch === 'deposit' ? address(branch, index) : only),
    key: (branch, index) => (branch === 'deposit' ? derived(branch, index) : hotKey),
    withinMs: SIGNED_WITHIN_MS,
  };
}

/** The same digest gives the same signature (RFC 6979). */
const keyOf = (privateKey: Uint8Array): Secp256k1Key => ({
  publicKey: secp256k1.getPublicKey(privateKey),
  async sign(digest) {
    const bytes = secp256k1.sign(digest, privateKey, { prehash: false, format: 'recovered' });
    const { r, s, recovery } = secp256k1.Signature.fromBytes(bytes, 'recovered');
    return { r, s, yParity: recovery === 0 ? 0 : 1 };
  },
});

/** Opens the wallet of a BIP-39 recovery phrase. The error of a wrong one does not repeat it. */
export function openBitcoinWallet(network: BitcoinNetwork, phrase: string): BitcoinWallet {
  const { slip44, form } = factsOf(network);
  const { versions } = keyForms[slip44 === 0 ? 'xpub' : 'tpub'];
  const purpose = HDKey.fromMasterSeed(seedOf(phrase), versions).derive(`m/84'/${slip44}'`);
  const account = purpose.deriveChild(HARDENED_OFFSET);
  const hotAccount = purpose.deriveChild(HARDENED_OFFSET + 1);
  const parents: Record<Branch, HDKey> = {
    deposit: account.deriveChild(0),
    hot: hotAccount.deriveChild(0),
    change: hotAccount.deriveChild(1),
  };

  const withoutKeys = (key: HDKey) => HDKey.fromExtendedKey(key.publicExtendedKey, versions);
  const publicParents: Record<Branch, HDKey> = {
    deposit: withoutKeys(parents.deposit),
    hot: withoutKeys(parents.hot),
    change: withoutKeys(parents.change),
  };

  function keyBelow(from: Record<Branch, HDKey>, branch: Branch, index: number): HDKey {
    invariant(index >= 0 && index < HARDENED_OFFSET, 'a public key has 2^31 children');
    invariant(branch !== 'hot' || index === 0, 'there is one hot address');
    return from[branch].deriveChild(index);
  }
  // By public keys alone, so that who has this function has no key.
  function address(branch: Branch, index: number): string {
    const { publicKey } = keyBelow(publicParents, branch, index);
    invariant(publicKey !== null, 'an extended key has a public key');
    return addressOf(form, publicKey);
  }

  return {
    hotAddress: address('hot', 0),
    address,
    accountXpub: account.publicExtendedKey,
    privateKey(branch, index) {
      const { privateKey } = keyBelow(parents, branch, index);
      invariant(privateKey !== null, 'this key can sign');
      return privateKey;
    },
  };
}
