import { failpoint } from '@quittance/shared/failpoint';
import type { SessionId, TokenId } from '@quittance/shared/ids';
import type { Ports } from '../ports.ts';
import { endedSessions } from '../store/sessions.ts';
import { endedTokens, recentlyUsedTokens, writeUses } from '../store/tokens.ts';
import { sessionLife } from './sessions.ts';

/** Writes when tokens were last used, many in one statement. @returns how many. */
export async function writeTokenUses({ db, tokenUses }: Pick<Ports, 'db' | 'tokenUses'>): Promise<number> {
  const uses = tokenUses.take();
  if (uses.size === 0) return 0;
  failpoint('gateway.uses_taken');
  try {
    await writeUses(db, uses);
  } catch (error) {
    tokenUses.putBack(uses);
    throw error;
  }
  failpoint('gateway.uses_written');
  return uses.size;
}

const MET_MAX = 10_000;

/**
 * Learns which tokens are in use, also through other gateways and before this one was started: a known token is counted by
 * itself, by the limit that its account has now, and a stranger who tries unknown ones from the same address takes nothing
 * from it.
 * @returns 0: the next step can wait.
 */
export async function meetTokens({ db, tokensSeen }: Pick<Ports, 'db' | 'tokensSeen'>): Promise<number> {
  const used = await recentlyUsedTokens(db, MET_MAX);
  // The latest last: when the memory is full, it forgets what came first.
  for (const { hash, ...token } of used.toReversed()) tokensSeen.set(hash.toString('latin1'), token);
  return 0;
}

/**
 * Ends streams whose token or session has ended since they began: a request is authenticated once, when it comes, and
 * a stream goes on for minutes. While the database is away they go on, until the service that writes them ends them after
 * ten minutes at most.
 * @returns 0: the next step can wait.
 */
export async function endStreamsOfEnded(ports: Pick<Ports, 'db' | 'proxy' | 'settings'>): Promise<number> {
  const { db, proxy } = ports;
  const open = proxy.streams.owners();
  const sessions = open.filter((id): id is SessionId => id.startsWith('ses_'));
  const tokens = open.filter((id): id is TokenId => !id.startsWith('ses_'));
  const [ofTokens, ofSessions] = await Promise.all([
    tokens.length > 0 ? endedTokens(db, tokens) : [],
    sessions.length > 0 ? endedSessions(db, sessions, sessionLife(ports)) : [],
  ]);
  if (open.length > 0) proxy.streams.endOf(new Set([...ofTokens, ...ofSessions]));
  return 0;
}
