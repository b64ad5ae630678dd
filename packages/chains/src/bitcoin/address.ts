import { formatUnits, type Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { HARDENED_OFFSET, HDKey } from '@scure/bip32';
import { Address, OutScript } from '@scure/btc-signer';
import { hash160 } from '@scure/btc-signer/utils.js';
import type { DepositAddresses } from '../chain.ts';
import { type AddressForm, type BitcoinNetwork, factsOf } from './network.ts';

const DECIMALS = 8;
const EXTERNAL_CHAIN = 0;

/** BIP-84: deposits are the children of the first account's external chain. */
const depositAccountPath = (network: BitcoinNetwork): string => `m/84'/${factsOf(network).slip44}'/0'`;

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

type KeyForm = { public: number; private: number };
const keyForms: Record<string, { form: KeyForm; networks: readonly BitcoinNetwork[] }> = {
  xpub: { form: { public: 0x0488b21e, private: 0x0488ade4 }, networks: ['mainnet'] },
  zpub: { form: { public: 0x04b24746, private: 0x04b2430c }, networks: ['mainnet'] },
  tpub: { form: { public: 0x043587cf, private: 0x04358394 }, networks: ['testnet', 'signet', 'regtest'] },
  vpub: { form: { public: 0x045f1cf6, private: 0x045f18bc }, networks: ['testnet', 'signet', 'regtest'] },
};

/**
 * The addresses below an account's extended public key. Throws when the text is not one of this network, and above
 * all when it is a private one: who gives out addresses must not be able to spend.
 */
export function depositAddresses(network: BitcoinNetwork, xpub: string): DepositAddresses {
  const account = parseExtendedKey(network, xpub);
  // The payouts service signs for this very account; addresses of another one could not be spent from.
  if (account.depth !== 3 || account.index !== HARDENED_OFFSET) {
    throw new Error(`this is not the extended public key of ${depositAccountPath(network)}`);
  }
  const external = account.deriveChild(EXTERNAL_CHAIN);
  const { form } = factsOf(network);
  return {
    at(index) {
      invariant(index >= 0 && index < HARDENED_OFFSET, 'a public key has 2^31 children');
      const { publicKey } = external.deriveChild(index);
      invariant(publicKey !== null, 'an extended key has a public key');
      return addressOf(form, publicKey);
    },
  };
}

/** P2WPKH, of a compressed public key. */
export function addressOf(form: AddressForm, key: Uint8Array): string {
  return Address(form).encode({ type: 'wpkh', hash: hash160(key) });
}

function parseExtendedKey(network: BitcoinNetwork, text: string): HDKey {
  if (/^[a-z]prv/.test(text)) throw new Error('this is a private key; give the extended public key, xpub…');
  const known = keyForms[text.slice(0, 4)];
  if (known === undefined) {
    throw new Error('this is not an extended public key: it begins with xpub, zpub, tpub or vpub');
  }
  if (!known.networks.includes(network)) {
    throw new Error(`an extended public key that begins with ${text.slice(0, 4)} is not one of ${network}`);
  }
  let account: HDKey;
  try {
    account = HDKey.fromExtendedKey(text, known.form);
  } catch {
    // Not with the cause: it may quote a private key given by mistake.
    throw new Error('this is not an extended public key');
  }
  if (account.privateKey !== null)
    throw new Error('this is a private key; give the extended public key, xpub…');
  return account;
}

/** What a wallet opens to pay `amount` to `address`, both filled in (BIP-21). */
export function paymentUri(address: string, amount: Units): string {
  return `bitcoin:${address}?amount=${formatUnits(amount, DECIMALS)}`;
}
