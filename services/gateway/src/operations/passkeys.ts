import type { Trx } from '@quittance/shared/db';
import { newPasskeyId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { clientKeyOf } from '../domain/client-address.ts';
import {
  CHALLENGE_MINUTES,
  type CreatedCredential,
  type CreationOptions,
  challengeIn,
  registrationOptions,
  verifyCreated,
} from '../passkey-ceremonies.ts';
import type { Ports } from '../ports.ts';
import { claimChallenge, deleteExpired, insertChallenge } from '../store/passkey-challenges.ts';
import {
  deletePasskeys,
  handleOf,
  insertPasskey,
  type Passkey,
  passkeysOf,
  storePasskeyName,
} from '../store/passkeys.ts';
import { lockPerson, noteAct } from '../store/people.ts';
import { endSessions, isEnded } from '../store/sessions.ts';
import { digestOf } from './one-time-secret.ts';
import { type PersonAsker, personAuthor } from './person-asker.ts';

/** The passkeys of a person who has signed in. How they sign in is in `prove-passkey.ts`. */

const PASSKEYS_MAX = 20;

type PasskeyPorts = Pick<Ports, 'db' | 'ownOrigin'>;

/** Begins to register a passkey. @returns what the browser needs to make one */
export async function beginPasskey(
  { db, ownOrigin }: PasskeyPorts,
  { session: { person, email, name } }: PersonAsker,
): Promise<Result<CreationOptions, 'too_many'>> {
  const known = await passkeysOf(db, person);
  if (known.length >= PASSKEYS_MAX) return refuse('too_many');
  const options = await registrationOptions(
    ownOrigin,
    { handle: await handleOf(db, person), email, name },
    known,
  );
  await insertChallenge(db, digestOf(options.challenge), { purpose: 'register', person });
  return ok(options);
}

/** `challenge`: it is unknown, of somebody or something else, used or expired. `session_ended`: while it was verified. */
export type RegistrationRefusal = 'challenge' | 'not_verified' | 'too_many' | 'taken' | 'session_ended';

/** Registers a passkey that the browser has made. All other sessions of the person end. */
export async function addPasskey(
  { db, clock, ownOrigin, refusals }: PasskeyPorts & Pick<Ports, 'clock' | 'refusals'>,
  { session, client }: PersonAsker,
  { name, credential }: { name: string; credential: CreatedCredential },
): Promise<Result<Passkey, RegistrationRefusal>> {
  const { person } = session;
  const challenge = challengeIn(credential);
  const of = { purpose: 'register', person } as const;
  if (challenge === undefined || !(await claimChallenge(db, digestOf(challenge), of, CHALLENGE_MINUTES)))
    return refuse('challenge');
  const made = await verifyCreated(credential, { challenge, ownOrigin });
  if (!made.ok) {
    const fields = { address: client, person, reason: made.refusal };
    refusals.log('warn', `passkey.${clientKeyOf(client)}`, fields, 'a new passkey was refused');
    return refuse('not_verified');
  }
  const now = clock.now();
  const passkey = { id: newPasskeyId(now), person, name, createdAt: now, ...made.value };
  return db.transaction(async (trx) => {
    await lockPerson(trx, person);
    // The operator may have reset the person meanwhile: then no passkey may stay.
    if (await isEnded(trx, session.id)) return refuse('session_ended');
    if ((await passkeysOf(trx, person)).length >= PASSKEYS_MAX) return refuse('too_many');
    if (!(await insertPasskey(trx, passkey))) return refuse('taken');
    await endSessions(trx, person, { but: session.id });
    await note(trx, { session, client }, 'passkey_added', `${passkey.id} ${name}`);
    return ok({ id: passkey.id, name, createdAt: now, lastUsedAt: null });
  });
}

export const listPasskeys = ({ db }: Pick<Ports, 'db'>, { session }: PersonAsker): Promise<Passkey[]> =>
  passkeysOf(db, session.person);

type OnePasskey = PersonAsker & { id: string };

export const renamePasskey = (
  { db }: Pick<Ports, 'db'>,
  { id, ...asker }: OnePasskey,
  name: string,
): Promise<Result<Passkey, 'not_found'>> =>
  db.transaction(async (trx) => {
    const renamed = await storePasskeyName(trx, { id, person: asker.session.person, name });
    if (renamed === undefined) return refuse('not_found');
    await note(trx, asker, 'passkey_renamed', `${renamed.id} ${name}`);
    return ok(renamed);
  });

/** Removes a passkey. All other sessions of the person end: the device may be in other hands, and signed in. */
export const removePasskey = (
  { db }: Pick<Ports, 'db'>,
  { id, ...asker }: OnePasskey,
): Promise<Result<void, 'not_found'>> =>
  db.transaction(async (trx) => {
    const { person, id: own } = asker.session;
    const [name] = await deletePasskeys(trx, person, id);
    if (name === undefined) return refuse('not_found');
    await endSessions(trx, person, { but: own });
    await note(trx, asker, 'passkey_removed', `${id} ${name}`);
    return ok(undefined);
  });

const note = (trx: Trx, { session, client }: PersonAsker, what: string, detail: string): Promise<void> =>
  noteAct(trx, {
    author: personAuthor(session.person, { client }),
    action: `person.${what}`,
    account: session.account,
    subject: session.person,
    detail,
  });

const EXPIRED_MAX = 1_000;

/** Deletes challenges that were not used. @returns how many */
export const deleteExpiredChallenges = ({ db }: Pick<Ports, 'db'>): Promise<number> =>
  deleteExpired(db, CHALLENGE_MINUTES, EXPIRED_MAX);
