import type { Trx } from '@quittance/shared/db';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { clientKeyOf } from '../domain/client-address.ts';
import type { RateLimitResult } from '../domain/rate-limit.ts';
import {
  CHALLENGE_MINUTES,
  challengeIn,
  type RequestOptions,
  type SignedCredential,
  signingOptions,
  verifySigned,
} from '../passkey-ceremonies.ts';
import type { Ports } from '../ports.ts';
import { type ChallengeFor, claimChallenge, insertChallenge } from '../store/passkey-challenges.ts';
import {
  type OwnedPasskey,
  passkeyByCredential,
  passkeysOf,
  signCountOf,
  usePasskey,
} from '../store/passkeys.ts';
import { lockPerson, noteAct } from '../store/people.ts';
import type { PersonSession } from '../store/sessions.ts';
import { digestOf } from './one-time-secret.ts';
import { personAuthor } from './person-asker.ts';
import { beginSession, type NewSession, renewSession, type Visit } from './sessions.ts';

type ProofPorts = Pick<Ports, 'db' | 'clock' | 'limits' | 'refusals' | 'ownOrigin'>;

const forSignIn = { purpose: 'sign_in', person: null } as const;
const forStepUp = ({ person }: PersonSession) => ({ purpose: 'step_up', person }) as const;

/** What a browser needs to sign somebody in. It is the same for everybody, so it says nothing of who exists. */
export async function passkeySignInOptions({
  db,
  ownOrigin,
}: Pick<Ports, 'db' | 'ownOrigin'>): Promise<RequestOptions> {
  const options = await signingOptions(ownOrigin, []);
  await insertChallenge(db, digestOf(options.challenge), forSignIn);
  return options;
}

/** What a browser needs to have the person of a session sign again. */
export async function passkeyStepUpOptions(
  { db, ownOrigin }: Pick<Ports, 'db' | 'ownOrigin'>,
  session: PersonSession,
): Promise<Result<RequestOptions, 'has_none'>> {
  const known = await passkeysOf(db, session.person);
  if (known.length === 0) return refuse('has_none');
  const options = await signingOptions(ownOrigin, known);
  await insertChallenge(db, digestOf(options.challenge), forStepUp(session));
  return ok(options);
}

/** Why somebody is not taken for a person. What was wrong is in the log. */
export type PasskeyRefusal = { kind: 'passkey' } | { kind: 'too_many'; rateLimit: RateLimitResult };

type Which = { accountId: string | null; former: PersonSession | undefined };

/** Signs in by a passkey alone: it counts as password and second factor, because the device has verified who uses it. */
export const signInByPasskey = (
  ports: ProofPorts,
  { credential, ...which }: Which & { credential: SignedCredential },
  visit: Visit,
): Promise<Result<NewSession, PasskeyRefusal | { kind: 'no_such_account' }>> =>
  byPasskey(ports, { credential, of: forSignIn }, visit, (trx, passkey, now) => {
    const { person: id, email, personName: name } = passkey;
    return beginSession(trx, { id, email, name }, { ...which, by: passkey.id }, { ...visit, now });
  });

/** Has the person of a session show again who it is, by one of the person's passkeys. */
export const stepUpByPasskey = (
  ports: ProofPorts,
  session: PersonSession,
  credential: SignedCredential,
  visit: Visit,
): Promise<Result<NewSession, PasskeyRefusal>> =>
  byPasskey<NewSession, never>(
    ports,
    { credential, of: forStepUp(session) },
    visit,
    async (trx, passkey, now) => {
      const renewed = await renewSession(trx, session, { ...visit, now, by: passkey.id });
      return renewed.ok ? renewed : refuse(refusedFor('the session has ended'));
    },
  );

/** Why a passkey is refused, for the log. */
type Refused = { kind: 'passkey'; why: string };
const refusedFor = (why: string): Refused => ({ kind: 'passkey', why });

type Given = { credential: SignedCredential; of: ChallengeFor };

/**
 * Goes on with the person whose passkey has signed a challenge, in the transaction that stores the use of the passkey: when it
 * is removed meanwhile, no session begins. Failures are limited per client.
 */
async function byPasskey<T, R>(
  ports: ProofPorts,
  given: Given,
  visit: Visit,
  go: (trx: Trx, passkey: OwnedPasskey, now: Date) => Promise<Result<T, R | Refused>>,
): Promise<Result<T, R | PasskeyRefusal>> {
  const { signInsOfClient } = ports.limits;
  const clientKey = clientKeyOf(visit.client);
  const begun = await signInsOfClient.begin(clientKey);
  try {
    if (!begun.allowed) return refuse({ kind: 'too_many', rateLimit: begun });
    const shown = await signedPasskey(ports, given);
    const result = shown.ok ? await used(ports, shown.value, visit, go) : shown;
    if (result.ok) return result;
    const { refusal } = result;
    if (!isRefused(refusal)) return refuse(refusal);
    await signInsOfClient.hit(clientKey);
    const fields = { address: clientKey, person: shown.ok ? shown.value.passkey.person : undefined };
    const { why } = refusal;
    ports.refusals.log('warn', `sign_in.${clientKey}`, { ...fields, reason: why }, 'a passkey was refused');
    return refuse({ kind: 'passkey' });
  } finally {
    begun.done();
  }
}

const isRefused = (refusal: unknown): refusal is Refused =>
  typeof refusal === 'object' && refusal !== null && 'why' in refusal;

type Signed = { passkey: OwnedPasskey; signCount: number };

/** The passkey that has signed a challenge of ours, once. */
async function signedPasskey(
  { db, ownOrigin }: ProofPorts,
  { credential, of }: Given,
): Promise<Result<Signed, Refused>> {
  const challenge = challengeIn(credential);
  if (challenge === undefined || !(await claimChallenge(db, digestOf(challenge), of, CHALLENGE_MINUTES)))
    return refuse(refusedFor('its challenge is unknown, used, expired, or of something else'));
  const passkey = await passkeyByCredential(db, credential.id);
  if (passkey === undefined) return refuse(refusedFor('it is not registered'));
  if (of.person !== null && passkey.person !== of.person)
    return refuse(refusedFor('it is of another person than the session'));
  const { userHandle } = credential.response;
  // A device that has found the passkey by itself says whose it is. It need not where the passkeys were named.
  const isNamed = of.person === null || userHandle != null;
  if (isNamed && userHandle !== passkey.handle.toString('base64url'))
    return refuse(refusedFor('the device has it for another person'));
  const verified = await verifySigned(credential, passkey, { challenge, ownOrigin });
  return verified.ok ? ok({ passkey, signCount: verified.value }) : refuse(refusedFor(verified.refusal));
}

function used<T, R>(
  { db, clock }: ProofPorts,
  { passkey, signCount }: Signed,
  visit: Visit,
  go: (trx: Trx, passkey: OwnedPasskey, now: Date) => Promise<Result<T, R>>,
): Promise<Result<T, R | Refused>> {
  const now = clock.now();
  return db.transaction(async (trx) => {
    const { id, person } = passkey;
    await lockPerson(trx, person);
    if (await usePasskey(trx, id, signCount, now)) return go(trx, passkey, now);
    const stored = await signCountOf(trx, id);
    if (stored === undefined) return refuse(refusedFor('it was removed meanwhile'));
    const why = `the signature counter is ${signCount} after ${stored}: the passkey may have been copied`;
    const author = personAuthor(person, visit);
    await noteAct(trx, { author, action: 'person.passkey_refused', subject: person, detail: `${id} ${why}` });
    return refuse(refusedFor(why));
  });
}
