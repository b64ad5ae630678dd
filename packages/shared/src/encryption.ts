import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { Random } from './ids.ts';

const ALGORITHM = 'aes-256-gcm';
const FORM = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets, so that the database and its backups do not reveal them. */
export type Encryption = {
  /** `form (1 byte) | nonce (12) | ciphertext | tag (16)`. Only of the same owner it can be decrypted. */
  encrypt(secret: Uint8Array, owner: string): Buffer;
  /** Throws when it was encrypted with another key or for another owner, or was changed. */
  decrypt(encrypted: Buffer, owner: string): Buffer;
};

/**
 * AES-256-GCM with a key that is derived from the configured one. The owner is authenticated data.
 * @param purpose what is encrypted: with one configured key, what is of another purpose is not decrypted
 */
export function createEncryption(configuredKey: string, purpose: string, random: Random): Encryption {
  const key = Buffer.from(hkdfSync('sha256', configuredKey, '', purpose, KEY_BYTES));
  return {
    encrypt(secret, owner) {
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(secret), cipher.final()]);
      return Buffer.concat([Buffer.of(FORM), nonce, text, cipher.getAuthTag()]);
    },
    decrypt(encrypted, owner) {
      if (encrypted[0] !== FORM || encrypted.length < 1 + NONCE_BYTES + TAG_BYTES) {
        throw new Error('a stored secret is not in a form this version knows');
      }
      const nonce = encrypted.subarray(1, 1 + NONCE_BYTES);
      const text = encrypted.subarray(1 + NONCE_BYTES, encrypted.length - TAG_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(owner))
        .setAuthTag(encrypted.subarray(encrypted.length - TAG_BYTES));
      return Buffer.concat([decipher.update(text), decipher.final()]);
    },
  };
}
