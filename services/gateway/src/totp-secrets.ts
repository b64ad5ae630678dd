import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const FORM = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts the secrets of people's codes, so that the database and its backups do not reveal them. */
export type TotpSecrets = {
  /** `form (1 byte) | nonce (12) | ciphertext | tag (16)`, of this person alone. */
  encrypt(secret: Uint8Array, person: string): Buffer;
  /** Throws when it was encrypted with another key or for another person, or was changed. */
  decrypt(encrypted: Buffer, person: string): Buffer;
};

/** @param setting TOTP_SECRETS_KEY */
export function totpSecrets(setting: string): TotpSecrets {
  const key = Buffer.from(hkdfSync('sha256', setting, '', 'quittance totp secrets', 32));
  return {
    encrypt(secret, person) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(person));
      const encrypted = [cipher.update(secret), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat([Buffer.from([FORM]), nonce, ...encrypted]);
    },
    decrypt(encrypted, person) {
      const nonce = encrypted.subarray(1, 1 + NONCE_BYTES);
      const body = encrypted.subarray(1 + NONCE_BYTES, -TAG_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(person)).setAuthTag(encrypted.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(body), decipher.final()]);
    },
  };
}
