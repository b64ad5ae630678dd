import { hash } from 'node:crypto';
import { bearerToken } from '../domain/bearer.ts';
import { isToken } from '../domain/token.ts';
import type { Ports } from '../ports.ts';
import type { Caller } from '../store.ts';

/**
 * Whose request it is, by its Authorization header; undefined when it is nobody's: no token, a malformed, an
 * unknown, a revoked or an expired one. Asked of the database each time, so that a revocation counts at once.
 */
export async function authenticate(
  { callers, clock, tokenUses }: Pick<Ports, 'callers' | 'clock' | 'tokenUses'>,
  rawHeaders: readonly string[],
): Promise<Caller | undefined> {
  const token = bearerToken(rawHeaders);
  if (token === undefined || !isToken(token)) return undefined;
  const caller = await callers.byHash(hash('sha256', token, 'buffer'));
  if (caller !== undefined) tokenUses.note(caller.tokenId, clock.now());
  return caller;
}
