import { KeysUnavailable } from '@quittance/chains/hot-key';
import { reason } from '@quittance/shared/logger';

export type Curve = 'secp256k1' | 'ed25519';

/** One key in a KMS. Each method throws KmsRefused or KeysUnavailable, and ends within its time. */
export type KmsKey = {
  /** SubjectPublicKeyInfo as DER, checked to be of a key that signs on this curve. */
  publicKey(curve: Curve): Promise<Uint8Array>;
  /** secp256k1: an ECDSA signature of a digest of 32 bytes, as DER. Ed25519: the 64 bytes of a signature of a message. */
  sign(curve: Curve, bytes: Uint8Array): Promise<Uint8Array>;
};

/** What is asked for is wrong, or not allowed: asking again mends nothing until somebody changes a setting or a permission. */
export class KmsRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KmsRefused';
  }
}

/** A signer does not sign for the first time after nine seconds, and holds a lock meanwhile. */
export const SIGN_WITHIN_MS = 2_500;
/** At the start credentials are looked for too. */
export const READ_WITHIN_MS = 30_000;

/**
 * Ends a question after its time, whatever becomes of what it waits for.
 * @param ask is told when the time is over, and its late failure is of no interest
 */
export async function within<T>(
  ms: number,
  what: string,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(ms);
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new KeysUnavailable(`${what} did not answer in ${ms} ms`)));
  });
  try {
    return await Promise.race([ask(signal), ended]);
  } catch (error) {
    if (error instanceof KmsRefused || error instanceof KeysUnavailable) throw error;
    if (signal.aborted) throw new KeysUnavailable(`${what} did not answer in ${ms} ms`);
    throw new KeysUnavailable(`${what}: ${reason(error)}`);
  }
}

/** How each KMS calls the keys that can be used. */
export const keyTypes = {
  secp256k1: { aws: 'ECC_SECG_P256K1', google: 'EC_SIGN_SECP256K1_SHA256' },
  ed25519: { aws: 'ECC_NIST_EDWARDS25519', google: 'EC_SIGN_ED25519' },
} as const;
