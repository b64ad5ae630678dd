import { Unavailable } from '@quittance/shared/http';
import { reason } from '@quittance/shared/logger';
import { clientKeyOf } from '../domain/client-address.ts';
import type { Ports } from '../ports.ts';
import { noteUsed, type PersonSession, sessionOf } from '../store/sessions.ts';
import { type Authentication, fail } from './authenticate.ts';
import { callerOfSession } from './caller.ts';
import { digestOf } from './one-time-secret.ts';
import { sessionLife } from './sessions.ts';

/** Its last use is written when the one before was longer ago. */
const USED_EVERY_MS = 60_000;

type SessionPorts = Pick<Ports, 'db' | 'clock' | 'limits' | 'sessionsSeen' | 'settings'>;

/**
 * Whose request it is, by the token in its cookie. The database is asked each time, so that a session that was ended counts no
 * more at once. The limits are those of tokens: of the session where this gateway has met it, else of the client's unknown ones.
 */
export async function authenticateSession(
  ports: SessionPorts,
  { token, client }: { token: string; client: string | undefined },
): Promise<Authentication> {
  const { limits, sessionsSeen } = ports;
  const clientKey = clientKeyOf(client);
  const digest = digestOf(token);
  const key = digest.toString('latin1');
  const met = sessionsSeen.get(key);
  const begun = met === undefined ? await limits.unknownTokens.begin(clientKey) : undefined;
  const before = begun ?? (await limits.sessions.hit(String(met)));
  if (!before.allowed) return { kind: 'too_many', rateLimit: before };
  try {
    const session = await readSession(ports, digest);
    if (session === undefined) {
      sessionsSeen.delete(key);
      const [failed] = await Promise.all([
        fail(ports, clientKey, 'not_valid'),
        limits.unknownTokens.hit(clientKey),
      ]);
      return failed;
    }
    sessionsSeen.set(key, session.id);
    const rateLimit = met === undefined ? await limits.sessions.hit(session.id) : before;
    if (!rateLimit.allowed) return { kind: 'too_many', rateLimit };
    return { kind: 'caller', caller: callerOfSession(session, digest), rateLimit };
  } finally {
    begun?.done();
  }
}

/** A session that is let in, and from now on has been used. */
async function readSession(ports: SessionPorts, digest: Buffer): Promise<PersonSession | undefined> {
  const { db, clock } = ports;
  try {
    const session = await sessionOf(db, digest, sessionLife(ports));
    const now = clock.now();
    if (session !== undefined && now.getTime() - session.lastUsedAt.getTime() > USED_EVERY_MS)
      await noteUsed(db, session.id, now);
    return session;
  } catch (error) {
    throw new Unavailable(`sessions cannot be read: ${reason(error)}`);
  }
}
