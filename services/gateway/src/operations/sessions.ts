import { newSessionId, type SessionId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { type Membership, membershipsOf, noteAct, type Person } from '../store/people.ts';
import {
  deleteOldSessions,
  endSessions,
  insertSession,
  type PersonSession,
  type Session,
  type SessionLife,
  sessionsOf,
} from '../store/sessions.ts';
import { newSecret } from './one-time-secret.ts';
import { personAuthor } from './person-asker.ts';
import { type Proof, type ProofRefusal, provePerson } from './prove-person.ts';

/** From where somebody comes. */
export type Visit = { client: string | undefined; userAgent: string | undefined };

/** A new session with its token, which is stored nowhere. */
export type NewSession = { session: PersonSession; token: string };

type SessionPorts = Pick<Ports, 'db' | 'clock' | 'limits' | 'passwords' | 'refusals' | 'totpSecrets'>;

const USER_AGENT_CHARACTERS_MAX = 255;

export const sessionLife = ({ settings }: Pick<Ports, 'settings'>): SessionLife => ({
  idleMinutes: settings.SESSION_IDLE_MINUTES,
  hours: settings.SESSION_HOURS,
});

/**
 * Signs a person in, for one of the person's accounts.
 * @param accountId null: the account that the person was in first
 * @param former the session that the browser has: it ends
 */
export async function signIn(
  ports: SessionPorts,
  { proof, accountId, former }: { proof: Proof; accountId: string | null; former: PersonSession | undefined },
  visit: Visit,
): Promise<Result<NewSession, ProofRefusal | { kind: 'no_such_account' }>> {
  const shown = await provePerson(ports, proof, visit.client);
  if (!shown.ok) return shown;
  const person = shown.value;
  const accounts = await membershipsOf(ports.db, person.id);
  const chosen = accountId === null ? accounts[0] : accounts.find((one) => one.accountId === accountId);
  if (chosen === undefined) return refuse({ kind: 'no_such_account' });
  const now = ports.clock.now();
  return ports.db.transaction(async (trx) => {
    if (former !== undefined) await endSessions(trx, former.person, { only: former.id });
    await deleteOldSessions(trx, person.id);
    const session = sessionFor(person, chosen, { signedInAt: now, now }, visit);
    const { secret, digest } = newSecret();
    await insertSession(trx, session, digest);
    const author = personAuthor(person.id, visit);
    await noteAct(trx, { author, action: 'session.began', account: chosen.accountId, subject: session.id });
    return ok({ session, token: secret });
  });
}

type Times = { signedInAt: Date; now: Date };

function sessionFor(
  { id: person, email, name }: Pick<Person, 'id' | 'email' | 'name'>,
  { accountId: account, accountName, role }: Membership,
  { signedInAt, now }: Times,
  { client, userAgent }: Visit,
): PersonSession {
  const cut = userAgent === undefined ? null : [...userAgent].slice(0, USER_AGENT_CHARACTERS_MAX).join('');
  const times = { signedInAt, steppedUpAt: now, lastUsedAt: now };
  const visit = { address: client ?? null, userAgent: cut };
  return { id: newSessionId(now), person, account, ...times, ...visit, email, name, accountName, role };
}

/** Has a person show again who it is. Another session takes the place of the present one, and lasts no longer. */
export async function stepUp(
  ports: SessionPorts,
  session: PersonSession,
  given: Omit<Proof, 'email'>,
  visit: Visit,
): Promise<Result<{ session: PersonSession; token: string }, ProofRefusal>> {
  const { person: id, account: accountId, accountName, role, signedInAt } = session;
  const shown = await provePerson(ports, { ...given, email: session.email }, visit.client);
  if (!shown.ok) return shown;
  const now = ports.clock.now();
  return ports.db.transaction(async (trx) => {
    const ended = await endSessions(trx, id, { only: session.id });
    // It was ended meanwhile: nothing may take its place.
    if (ended.length === 0) return refuse({ kind: 'wrong' });
    const next = sessionFor({ ...session, id }, { accountId, accountName, role }, { signedInAt, now }, visit);
    const { secret, digest } = newSecret();
    await insertSession(trx, next, digest);
    const author = personAuthor(id, visit);
    await noteAct(trx, { author, action: 'session.stepped_up', account: accountId, subject: next.id });
    return ok({ session: next, token: secret });
  });
}

/** The sessions of the person that has this one. */
export const listSessions = (
  ports: Pick<Ports, 'db' | 'settings'>,
  { person }: PersonSession,
): Promise<Session[]> => sessionsOf(ports.db, person, sessionLife(ports));

/** Ends sessions of the person: one of them, or all others. False when there is no such one. */
export async function endOwnSessions(
  { db }: Pick<Ports, 'db'>,
  session: PersonSession,
  which: { only: string } | { but: SessionId },
  visit: Pick<Visit, 'client'>,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    const ended = await endSessions(trx, session.person, which);
    const author = personAuthor(session.person, visit);
    for (const { id } of ended)
      await noteAct(trx, { author, action: 'session.ended', account: session.account, subject: id });
    return ended.length > 0;
  });
}

export const accountsOf = (
  { db }: Pick<Ports, 'db'>,
  { person }: Pick<PersonSession, 'person'>,
): Promise<Membership[]> => membershipsOf(db, person);
