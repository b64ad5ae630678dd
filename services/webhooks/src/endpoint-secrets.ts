import { createHmac, createSecretKey, type KeyObject, sign } from 'node:crypto';
import { createEncryption } from '@quittance/shared/encryption';
import type { EndpointId, Random } from '@quittance/shared/ids';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

/** A secret, or the private key of a key pair, in the form that signs. */
export type SigningKey = KeyObject;

/** A signing secret in the form of Standard Webhooks 1.0.0: `whsec_` and 32 random bytes in base 64. */
export const newSecret = (random: Random): string =>
  `${PREFIX}${Buffer.from(random(SECRET_BYTES)).toString('base64')}`;

export const signingKey = (secret: string): SigningKey =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'));

/**
 * The headers of Standard Webhooks 1.0.0, with one signature per key: a receiver may know the former or the new one. A
 * secret makes a `v1` signature, a private key of Ed25519 a `v1a` signature.
 * The package `standardwebhooks` hashes in JavaScript and takes ten times as long. The tests verify these headers
 * with it.
 */
export function signatureHeaders(
  keys: readonly SigningKey[],
  id: string,
  now: Date,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const signed = `${id}.${timestamp}.${body}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => signatureBy(key, signed)).join(' '),
  };
}

const signatureBy = (key: SigningKey, signed: string): string =>
  key.type === 'private'
    ? `v1a,${sign(null, Buffer.from(signed), key).toString('base64')}`
    : `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;

/** Encrypts secrets, so that the database and its backups do not reveal them. */
export type SecretEncryption = {
  /** Only of the same endpoint it can be decrypted. */
  encrypt(secret: string, endpoint: EndpointId): Buffer;
  /** Throws when it was encrypted with another key or for another endpoint, or was changed. */
  decrypt(encrypted: Buffer, endpoint: EndpointId): string;
  /** The same secret, encrypted with the present key; undefined when it is already. Throws as `decrypt` does. */
  renewed(encrypted: Buffer, endpoint: EndpointId): Buffer | undefined;
};

/** @param formerKey decrypts what was encrypted with it, while the key is being changed */
export function createSecretEncryption(
  configuredKey: string,
  random: Random,
  formerKey?: string,
): SecretEncryption {
  const present = encryptionBy(configuredKey, random);
  if (formerKey === undefined) return { ...present, renewed: (...given) => void present.decrypt(...given) };
  const former = encryptionBy(formerKey, random);
  const isByPresent = (...given: Parameters<typeof present.decrypt>): boolean => {
    try {
      present.decrypt(...given);
      return true;
    } catch {
      // Of the former key, or of none: that one says so.
      return false;
    }
  };
  return {
    encrypt: present.encrypt,
    decrypt: (...given) => (isByPresent(...given) ? present : former).decrypt(...given),
    renewed: (encrypted, endpoint) =>
      isByPresent(encrypted, endpoint)
        ? undefined
        : present.encrypt(former.decrypt(encrypted, endpoint), endpoint),
  };
}

function encryptionBy(configuredKey: string, random: Random): Pick<SecretEncryption, 'encrypt' | 'decrypt'> {
  const { encrypt, decrypt } = createEncryption(configuredKey, 'quittance webhook secrets 1', random);
  return {
    encrypt: (secret, endpoint) => encrypt(Buffer.from(secret), endpoint),
    decrypt: (encrypted, endpoint) => decrypt(encrypted, endpoint).toString('utf8'),
  };
}
