import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { markRevoked, type Token, tokenById } from '../store/tokens.ts';

/**
 * Ends a token for good; from the next request on it is refused. One that is revoked already stays as it is.
 * @param actor who does this, for the audit log
 */
export async function revokeToken(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  { id, actor }: { id: string; actor: string },
): Promise<Result<Token, 'no_such_token'>> {
  await markRevoked(db, id, clock.now(), actor);
  const token = await tokenById(db, id);
  return token === undefined ? refuse('no_such_token') : ok(token);
}
