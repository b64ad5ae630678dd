import { createHmac } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { invariant } from '@quittance/shared/result';
import { getAddressDecoder } from '@solana/kit';
import { seedOf } from '../wallet-phrase.ts';

const HARDENED = 2 ** 31;
const [PURPOSE, COIN] = [44, 501];
/** Deposits end with 0, the hot wallet with 1: no deposit can ever be the hot wallet. */
const DEPOSIT_CHANGE = 0;
const HOT_CHANGE = 1;

/** A key pair that tells nobody its secret. */
export type SolanaSigner = { address: string; sign(message: Uint8Array): Uint8Array };

/** The keys. Only the payouts service and the sandbox open one; nothing that can be printed holds a secret. */
export type SolanaWallet = {
  hotAddress: string;
  /** m/44'/501'/index'/0': what most wallets show as their account `index`. */
  depositAddress(index: number): string;
  hotSigner: SolanaSigner;
  depositSigner(index: number): SolanaSigner;
};

/** A private key and its chain code. */
export type ExtendedKey = { key: Buffer; chainCode: Buffer };

/**
 * Opens the wallet of a BIP-39 phrase. The error of a wrong one does not repeat it. There is no public derivation on
 * this curve: whoever can name addresses can spend.
 */
export function openWallet(phrase: string): SolanaWallet {
  const coin = derive(masterKey(seedOf(phrase)), [PURPOSE, COIN]);
  const signer = (account: number, change: number) => signerOf(derive(coin, [account, change]));
  const hotSigner = signer(0, HOT_CHANGE);
  return {
    hotAddress: hotSigner.address,
    depositAddress: (index) => signer(index, DEPOSIT_CHANGE).address,
    hotSigner,
    depositSigner: (index) => signer(index, DEPOSIT_CHANGE),
  };
}

/** SLIP-10 for ed25519. */
export const masterKey = (seed: Uint8Array): ExtendedKey => split('ed25519 seed', seed);

/** The child of a key by a path of indexes, all hardened: on this curve there are no others. */
export function derive(parent: ExtendedKey, path: readonly number[]): ExtendedKey {
  return path.reduce(({ key, chainCode }, index) => {
    invariant(Number.isInteger(index) && index >= 0 && index < HARDENED, 'a key has 2^31 hardened children');
    const data = Buffer.alloc(1 + 32 + 4);
    key.copy(data, 1);
    data.writeUInt32BE(index + HARDENED, 33);
    return split(chainCode, data);
  }, parent);
}

function split(hmacKey: string | Buffer, data: Uint8Array): ExtendedKey {
  const digest = createHmac('sha512', hmacKey).update(data).digest();
  return { key: digest.subarray(0, 32), chainCode: digest.subarray(32) };
}

export const publicKeyOf = (key: Uint8Array): Uint8Array => ed25519.getPublicKey(key);

function signerOf({ key }: ExtendedKey): SolanaSigner {
  return {
    address: getAddressDecoder().decode(publicKeyOf(key)),
    // The same message gives the same signature, always (RFC 8032).
    sign: (message) => ed25519.sign(message, key),
  };
}
