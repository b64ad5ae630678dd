import type { Trx } from '@quittance/shared/db';
import { newSessionId, type PasskeyId, type SessionId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { isOperator } from '../store/operators.ts';
import { lockPerson, type Membership, membershipsOf, noteAct, type Person } from '../store/people.ts';
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

type Which = {
  /** Null: the account that the person was in first. */
  accountId: string | null;
  /** The session that the browser has: it ends. */
  former: PersonSession | undefined;
};

/** Signs a person in, for one of the person's accounts. */
export async function signIn(
  ports: SessionPorts,
  { proof, ...which }: Which & { proof: Proof },
  visit: Visit,
): Promise<Result<NewSession, ProofRefusal | { kind: 'no_such_account' }>> {
  const shown = await provePerson(ports, proof, visit.client);
  if (!shown.ok) return shown;
  const now = ports.clock.now();
  return ports.db.transaction(async (trx) => {
    if (!(await isStillProved(trx, shown.value))) return refuse({ kind: 'wrong' });
    return beginSession(trx, shown.value, which, { ...visit, now });
  });
}

/** Whether the password is still the one that was verified: to verify it takes a while, and the operator may reset the person. */
const isStillProved = async (trx: Trx, { id, passwordHash }: Person): Promise<boolean> =>
  (await lockPerson(trx, id)) === passwordHash;

type Shown = Pick<Person, 'id' | 'email' | 'name'>;

/** Begins a session of somebody who has shown who it is. @param by the passkey that has shown it */
export async function beginSession(
  trx: Trx,
  person: Shown,
  { accountId, former, by }: Which & { by?: PasskeyId },
  { now, ...visit }: Visit & { now: Date },
): Promise<Result<NewSession, { kind: 'no_such_account' }>> {
  const accounts = await membershipsOf(trx, person.id);
  const chosen = accountId === null ? accounts[0] : accounts.find((one) => one.accountId === accountId);
  if (chosen === undefined) return refuse({ kind: 'no_such_account' });
  if (former !== undefined) await endSessions(trx, former.person, { only: former.id });
  await deleteOldSessions(trx, person.id);
  const shown = { ...person, isOperator: await isOperator(trx, person.id) };
  const session = sessionFor(shown, chosen, { signedInAt: now, now }, visit);
  return ok(await storeSession(trx, session, { action: 'session.began', by }));
}

async function storeSession(
  trx: Trx,
  session: PersonSession,
  { action, by }: { action: `session.${string}`; by: PasskeyId | undefined },
): Promise<NewSession> {
  const { secret, digest } = newSecret();
  await insertSession(trx, session, digest);
  const { person, account, address } = session;
  const author = personAuthor(person, { client: address ?? undefined });
  await noteAct(trx, { author, action, account, subject: session.id, ...(by && { detail: by }) });
  return { session, token: secret };
}

type Times = { signedInAt: Date; now: Date };

function sessionFor(
  { id: person, email, name, isOperator: operates }: Shown & Pick<PersonSession, 'isOperator'>,
  { accountId: account, accountName, role }: Membership,
  { signedInAt, now }: Times,
  { client, userAgent }: Visit,
): PersonSession {
  const cut = userAgent === undefined ? null : [...userAgent].slice(0, USER_AGENT_CHARACTERS_MAX).join('');
  const times = { signedInAt, steppedUpAt: now, lastUsedAt: now };
  const visit = { address: client ?? null, userAgent: cut };
  const shown = { email, name, accountName, role, isOperator: operates };
  return { id: newSessionId(now), person, account, ...times, ...visit, ...shown };
}

/** Has a person show again who it is. Another session takes the place of the present one, and lasts no longer. */
export async function stepUp(
  ports: SessionPorts,
  session: PersonSession,
  given: Omit<Proof, 'email'>,
  visit: Visit,
): Promise<Result<NewSession, ProofRefusal>> {
  const shown = await provePerson(ports, { ...given, email: session.email }, visit.client);
  if (!shown.ok) return shown;
  const now = ports.clock.now();
  return ports.db.transaction(async (trx) => {
    if (!(await isStillProved(trx, shown.value))) return refuse({ kind: 'wrong' });
    const renewed = await renewSession(trx, session, { ...visit, now });
    return renewed.ok ? renewed : refuse({ kind: 'wrong' });
  });
}

/** Another session in the place of one whose person has shown again who it is. Nothing takes the place of one that was ended meanwhile. */
export async function renewSession(
  trx: Trx,
  session: PersonSession,
  { now, by, ...visit }: Visit & { now: Date; by?: PasskeyId },
): Promise<Result<NewSession, 'ended'>> {
  const { person: id, account: accountId, accountName, role, signedInAt } = session;
  const ended = await endSessions(trx, id, { only: session.id });
  if (ended.length === 0) return refuse('ended');
  const next = sessionFor({ ...session, id }, { accountId, accountName, role }, { signedInAt, now }, visit);
  return ok(await storeSession(trx, next, { action: 'session.stepped_up', by }));
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
