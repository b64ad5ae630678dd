import type { ChainKind } from '@quittance/shared/assets';

/** An ECDSA signature with s in the lower half of the order, and which of the two points has r (its y is odd: 1). */
export type Secp256k1Signature = { r: bigint; s: bigint; yParity: 0 | 1 };

/**
 * The key of a hot wallet on chains that sign by secp256k1: derived from the recovery phrase, or in a KMS, which gives
 * signatures and never the key. `publicKey`: 33 bytes, compressed.
 */
export type Secp256k1Key = {
  publicKey: Uint8Array;
  /** Signs a digest of 32 bytes. Throws KeysUnavailable when who holds the key gives no signature now. */
  sign(digest: Uint8Array): Promise<Secp256k1Signature>;
};

/** The same on Solana. `publicKey`: 32 bytes. */
export type Ed25519Key = {
  publicKey: Uint8Array;
  /** Signs a message: 64 bytes (RFC 8032). Throws KeysUnavailable as above. */
  sign(message: Uint8Array): Promise<Uint8Array>;
};

type HotKeys = { bitcoin: Secp256k1Key; evm: Secp256k1Key; solana: Ed25519Key };
/** The key of a kind of chain's hot wallet. */
export type HotKeyOf<K extends ChainKind> = HotKeys[K];

/** Thrown when who holds a key gives no signature now. Nothing is signed, and asking again is right. */
export class KeysUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KeysUnavailable';
  }
}
