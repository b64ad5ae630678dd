import type { Ports } from '../ports.ts';
import { removeEndedSecrets } from '../store-secrets.ts';

/** Removes the bytes of secrets that have ended; nothing was signed with them since. Answers how many there were. */
export async function forgetEndedSecrets({
  db,
  clock,
  logger,
}: Pick<Ports, 'db' | 'clock' | 'logger'>): Promise<number> {
  const gone = await removeEndedSecrets(db, clock.now());
  if (gone > 0) logger.info({ secrets: gone }, 'removed secrets that have ended');
  return gone;
}
