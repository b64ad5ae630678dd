import type { Ports } from '../ports.ts';
import { recentlyUsedTokens } from '../store/tokens.ts';

const TOKENS_MAX = 10_000;

/**
 * Learns which tokens are in use, also through other gateways and before this one was started: a known token is counted by
 * itself, and a stranger who tries unknown ones from the same address takes nothing from it.
 * @returns 0: there is nothing to go on with at once
 */
export async function meetTokens({ db, tokensSeen }: Pick<Ports, 'db' | 'tokensSeen'>): Promise<number> {
  const used = await recentlyUsedTokens(db, TOKENS_MAX);
  // The latest last: when the memory is full, it forgets what came first.
  for (const { hash, tokenId } of used.toReversed()) tokensSeen.set(hash.toString('latin1'), tokenId);
  return 0;
}
