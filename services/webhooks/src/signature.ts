import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Random } from '@quittance/shared/ids';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

/** A secret, ready to sign with. */
export type SigningKey = KeyObject;

/** A signing secret in the form of Standard Webhooks 1.0.0: `whsec_` and 32 random bytes in base 64. */
export const newSecret = (random: Random): string =>
  `${PREFIX}${Buffer.from(random(SECRET_BYTES)).toString('base64')}`;

export const signingKey = (secret: string): SigningKey =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'));

/**
 * The headers of Standard Webhooks 1.0.0. One signature for each secret that is good now, so that a receiver
 * may know the former or the new one. The package `standardwebhooks`, whose hash is written in JavaScript, costs ten
 * times as much here; it verifies these in the tests.
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
    'webhook-signature': keys
      .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
      .join(' '),
  };
}
