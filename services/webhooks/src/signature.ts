import type { Random } from '@quittance/shared/ids';
import { Webhook } from 'standardwebhooks';

const SECRET_BYTES = 32;

/** A signing secret in the form of Standard Webhooks 1.0.0: `whsec_` and 32 random bytes in base 64. */
export const newSecret = (random: Random): string =>
  `whsec_${Buffer.from(random(SECRET_BYTES)).toString('base64')}`;

/**
 * The headers of Standard Webhooks 1.0.0. One signature for each secret that is good now, so that a receiver
 * may know the former or the new one.
 */
export function signatureHeaders(
  secrets: readonly string[],
  id: string,
  now: Date,
  body: string,
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
}
