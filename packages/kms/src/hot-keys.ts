import { createPublicKey, type KeyObject } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  type Ed25519Key,
  type HotKeyOf,
  KeysUnavailable,
  type Secp256k1Key,
  type Secp256k1Signature,
} from '@quittance/chains/hot-key';
import type { ChainKind } from '@quittance/shared/assets';
import { awsKmsKey } from './aws-kms.ts';
import { googleKmsKey } from './google-kms.ts';
import type { KmsKeyName } from './key-name.ts';
import { type Curve, type KmsKey, KmsRefused } from './kms.ts';

/** `googleEndpoint`: in place of Google's own. */
export type KmsOptions = { googleEndpoint?: string | undefined };

/**
 * The key of a hot wallet that is in a KMS. Its public key is read once, here; each signature is checked by it. The client of
 * the KMS is loaded only now. Throws KmsRefused when the key cannot be used, KeysUnavailable when the KMS does not answer.
 */
export async function openHotKey<K extends ChainKind>(
  kind: K,
  name: KmsKeyName,
  { googleEndpoint }: KmsOptions = {},
): Promise<HotKeyOf<K>> {
  const key = await (name.kms === 'aws' ? awsKmsKey(name) : googleKmsKey(name, googleEndpoint));
  const opened = await (kind === 'solana' ? ed25519Key(key) : secp256k1Key(key));
  return opened as HotKeyOf<K>;
}

async function secp256k1Key(kms: KmsKey): Promise<Secp256k1Key> {
  const told = readPublicKey(await kms.publicKey('secp256k1'));
  if (told.asymmetricKeyDetails?.namedCurve !== 'secp256k1') throw new KmsRefused(wrongCurve('secp256k1'));
  const { x, y } = told.export({ format: 'jwk' });
  const point = secp256k1.Point.fromBytes(Uint8Array.of(4, ...coordinate(x), ...coordinate(y)));
  const publicKey = point.toBytes();
  return {
    publicKey,
    async sign(digest) {
      const signature = signatureOf(await signedBy(kms, 'secp256k1', digest), digest, publicKey);
      if (signature === undefined) throw new KeysUnavailable(WRONG_SIGNATURE);
      return signature;
    },
  };
}

async function ed25519Key(kms: KmsKey): Promise<Ed25519Key> {
  const told = readPublicKey(await kms.publicKey('ed25519'));
  if (told.asymmetricKeyType !== 'ed25519') throw new KmsRefused(wrongCurve('Ed25519'));
  const publicKey = Uint8Array.from(coordinate(told.export({ format: 'jwk' }).x));
  return {
    publicKey,
    async sign(message) {
      const signature = Uint8Array.from(await signedBy(kms, 'ed25519', message));
      if (!isEd25519(signature, message, publicKey)) throw new KeysUnavailable(WRONG_SIGNATURE);
      return signature;
    },
  };
}

/** Whatever keeps a KMS from signing, the key is right: it was when it was opened. */
async function signedBy(kms: KmsKey, curve: Curve, bytes: Uint8Array): Promise<Uint8Array> {
  try {
    return await kms.sign(curve, bytes);
  } catch (error) {
    throw error instanceof KmsRefused ? new KeysUnavailable(error.message) : error;
  }
}

const WRONG_SIGNATURE = 'the KMS gave a signature that is not one of the key';
const wrongCurve = (curve: string) => `the public key is none of ${curve}`;
const coordinate = (text: string | undefined) => Buffer.from(text ?? '', 'base64url');

function readPublicKey(der: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  } catch {
    throw new KmsRefused('the KMS told no public key');
  }
}

/**
 * From DER. A KMS gives s in either half of the order: chains take the lower one alone (BIP-62, EIP-2), and -s with the other point is
 * as right. Which point it is, is found by recovering the public key, so a signature of another key is undefined.
 */
function signatureOf(
  der: Uint8Array,
  digest: Uint8Array,
  publicKey: Uint8Array,
): Secp256k1Signature | undefined {
  try {
    const { r, s: told } = secp256k1.Signature.fromBytes(Uint8Array.from(der), 'der');
    const order = secp256k1.Point.Fn.ORDER;
    const s = told > order / 2n ? order - told : told;
    return ([0, 1] as const)
      .map((yParity) => ({ r, s, yParity }))
      .find(({ yParity }) => {
        const recovered = new secp256k1.Signature(r, s, yParity).recoverPublicKey(digest).toBytes();
        return Buffer.compare(recovered, publicKey) === 0;
      });
  } catch {
    return undefined;
  }
}

/** By RFC 8032, as Solana checks it. */
function isEd25519(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}
