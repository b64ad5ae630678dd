import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { EndpointId, Random } from '@quittance/shared/ids';

const ALGORITHM = 'aes-256-gcm';
const FORM = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Keeps secrets unreadable in the database and its backups. */
export type Seal = {
  /** `form (1 byte) | nonce (12) | ciphertext | tag (16)`; opens for the same endpoint only. */
  close(secret: string, endpoint: EndpointId): Buffer;
  /** Throws when it was closed with another key or for another endpoint, or was changed. */
  open(sealed: Buffer, endpoint: EndpointId): string;
};

/** AES-256-GCM under a key derived from the configured one, bound to the endpoint it belongs to. */
export function createSeal(configuredKey: string, random: Random): Seal {
  const key = Buffer.from(hkdfSync('sha256', configuredKey, '', 'quittance webhook secrets 1', 32));
  return {
    close(secret, endpoint) {
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(endpoint));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(FORM), nonce, text, cipher.getAuthTag()]);
    },
    open(sealed, endpoint) {
      if (sealed[0] !== FORM || sealed.length < 1 + NONCE_BYTES + TAG_BYTES) {
        throw new Error('a webhook secret is not in a form this version knows');
      }
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const text = sealed.subarray(1 + NONCE_BYTES, sealed.length - TAG_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(endpoint))
        .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
    },
  };
}
