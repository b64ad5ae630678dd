import { reason } from '@quittance/shared/logger';
import type { Ports } from '../ports.ts';
import { replaceEncrypted, secretsAfter } from '../store/endpoint-secrets.ts';

const BATCH = 500;

/**
 * Encrypts with the present key what is encrypted with the former one. Replicas that have only the former key cannot sign with it
 * from then on. A secret that neither key opens is left as it is, and logged.
 */
export async function renewSecrets({
  db,
  encryption,
  logger,
}: Pick<Ports, 'db' | 'encryption' | 'logger'>): Promise<void> {
  let [renewed, unreadable, after] = [0, 0, '0'];
  for (;;) {
    const secrets = await secretsAfter(db, after, BATCH);
    const last = secrets.at(-1);
    if (last === undefined) break;
    after = last.endpointKey;
    for (const secret of secrets) {
      const { endpointId, encrypted } = secret;
      let again: Buffer | undefined;
      try {
        again = encryption.renewed(encrypted, endpointId);
      } catch (error) {
        unreadable += 1;
        const details = { endpoint: endpointId, reason: reason(error) };
        logger.error(details, 'neither WEBHOOK_SECRETS_KEY nor WEBHOOK_SECRETS_KEY_FORMER opens a secret');
        continue;
      }
      if (again !== undefined && (await replaceEncrypted(db, secret, again))) renewed += 1;
    }
  }
  logger.info({ renewed, unreadable }, 'endpoint secrets are encrypted with WEBHOOK_SECRETS_KEY');
}
