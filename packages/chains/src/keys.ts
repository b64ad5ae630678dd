import { createHmac } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { invariant } from '@quittance/shared/result';
import { HARDENED_OFFSET, HDKey } from '@scure/bip32';
import { generateMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import type { DepositAddresses } from './chain.ts';

const BITS = { 12: 128, 24: 256 } as const;

/** Its words, with one space between them. */
export const normalizedPhrase = (phrase: string): string => phrase.trim().split(/\s+/).join(' ');

/** Whether it is a BIP-39 recovery phrase with a right checksum, however its words are spaced. */
export const isRecoveryPhrase = (phrase: string): boolean =>
  validateMnemonic(normalizedPhrase(phrase), wordlist);

/** The recovery phrase of a new wallet. */
export const newRecoveryPhrase = (words: keyof typeof BITS): string =>
  generateMnemonic(wordlist, BITS[words]);

/** The seed that the keys of every chain derive from. The error of a wrong phrase does not repeat it. */
export function seedOf(phrase: string): Uint8Array {
  if (!isRecoveryPhrase(phrase)) throw new Error('this is not a BIP-39 recovery phrase');
  return mnemonicToSeedSync(normalizedPhrase(phrase));
}

const { Point } = secp256k1;
/** A public key, as the point of the curve that it is. */
export type PublicPoint = InstanceType<typeof Point>;

/** How an extended public key is written, where it stands, and what its children's addresses are. */
type AccountForm = {
  /** Of BIP-44: m/purpose'/coin'/0'. */
  path: string;
  addressOf(publicKey: PublicPoint): string;
  versions?: HDKey['versions'];
};

/**
 * The addresses on the external chain of an account, from its extended public key. Throws when the text is not one, and
 * above all when it is a private one: who gives out addresses must not be able to spend.
 */
export function addressesBelow(xpub: string, { path, addressOf, versions }: AccountForm): DepositAddresses {
  const account = parseExtendedKey(xpub, versions);
  if (account.privateKey !== null)
    throw new Error('this is a private key; give the extended public key, xpub…');
  // The payouts service signs for this very account; addresses of another one could not be spent from.
  if (account.depth !== 3 || account.index !== HARDENED_OFFSET)
    throw new Error(`this is not the extended public key of ${path}`);
  const childAt = publicChildren(account.deriveChild(0));
  return { at: (index) => addressOf(childAt(index)) };
}

const INDEX_BYTES = 4;
const SCALAR_BYTES = 32;

/**
 * The public keys of children, the same as those of `deriveChild`, in half the time: the parent's point is read once, and the
 * multiplication need not take the same time for every key, because all of it is public.
 */
export function publicChildren(parent: HDKey): (index: number) => PublicPoint {
  const { publicKey, chainCode } = parent;
  invariant(publicKey !== null && chainCode !== null, 'an extended key has a public key and a chain code');
  const point = Point.fromBytes(publicKey);
  const data = Buffer.concat([publicKey, Buffer.alloc(INDEX_BYTES)]);
  return (index) => {
    const isChild = Number.isInteger(index) && index >= 0 && index < HARDENED_OFFSET;
    invariant(isChild, 'a public key has 2^31 children');
    data.writeUInt32BE(index, publicKey.length);
    const tweak = createHmac('sha512', chainCode)
      .update(data)
      .digest('hex')
      .slice(0, 2 * SCALAR_BYTES);
    const scalar = BigInt(`0x${tweak}`);
    const child = Point.Fn.isValidNot0(scalar) ? point.add(Point.BASE.multiplyUnsafe(scalar)) : Point.ZERO;
    return child.is0() ? derivedByLibrary(parent, index) : child;
  };
}

/** BIP-32 leaves out an index in 2^127, and the library knows which one is next. */
function derivedByLibrary(parent: HDKey, index: number): PublicPoint {
  const { publicKey } = parent.deriveChild(index);
  invariant(publicKey !== null, 'an extended key has a public key');
  return Point.fromBytes(publicKey);
}

function parseExtendedKey(text: string, versions: HDKey['versions'] | undefined): HDKey {
  try {
    return HDKey.fromExtendedKey(text, versions);
  } catch {
    // Not with the cause: it may quote a private key given by mistake.
    throw new Error('this is not an extended public key');
  }
}
