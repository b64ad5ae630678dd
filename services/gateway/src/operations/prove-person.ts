import { hash } from 'node:crypto';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { clientKeyOf } from '../domain/client-address.ts';
import { canonicalEmail, canonicalPassword } from '../domain/password.ts';
import type { RateLimitResult } from '../domain/rate-limit.ts';
import type { Ports } from '../ports.ts';
import { type Person, personByEmail } from '../store/people.ts';
import { isKnownClient } from '../store/sessions.ts';
import { type FactorRefusal, proveSecondFactor } from './second-factors.ts';

/** What somebody gives to show who it is. */
export type Proof = {
  email: string;
  password: string;
  /** Of an app, or a recovery code. */
  code: string | null;
};

/** Why somebody is not taken for a person. An unknown address and a wrong password are the same. */
export type PasswordProofRefusal = { kind: 'wrong' } | { kind: 'too_many'; rateLimit: RateLimitResult };
export type ProofRefusal = PasswordProofRefusal | FactorRefusal;

type ProofPorts = Pick<Ports, 'db' | 'limits' | 'passwords' | 'refusals'>;

/** Whether somebody is the person with this address: by the password, and by the second factor where there is one. */
export async function provePerson(
  ports: ProofPorts & Pick<Ports, 'clock' | 'totpSecrets'>,
  proof: Proof,
  client: string | undefined,
): Promise<Result<Person, ProofRefusal>> {
  const person = await provePassword(ports, proof, client);
  if (!person.ok) return person;
  const factor = await proveSecondFactor(ports, person.value.id, proof.code);
  return factor.ok ? person : factor;
}

/**
 * Whether somebody knows the password of the person with this address. Failures are limited per client, and per address of the person over all
 * clients. The second limit does not hold for clients from which the person has signed in before: strangers who fail on
 * purpose lock nobody out.
 */
export async function provePassword(
  ports: ProofPorts,
  proof: Omit<Proof, 'code'>,
  client: string | undefined,
): Promise<Result<Person, PasswordProofRefusal>> {
  const { db, limits, passwords } = ports;
  const email = canonicalEmail(proof.email);
  const clientKey = clientKeyOf(client);
  const emailKey = hash('sha256', email ?? proof.email);
  const [ofClient, ofEmail] = await Promise.all([
    limits.signInsOfClient.begin(clientKey),
    limits.signInsOfEmail.begin(emailKey),
  ]);
  try {
    if (!ofClient.allowed) return refuse({ kind: 'too_many', rateLimit: ofClient });
    const person = email === undefined ? undefined : await personByEmail(db, email);
    if (!ofEmail.allowed && !(await isKnownClient(db, person?.id ?? null, client ?? null))) {
      return refuse({ kind: 'too_many', rateLimit: ofEmail });
    }
    const isRight = await passwords.verify(canonicalPassword(proof.password), person?.passwordHash ?? null);
    if (person !== undefined && isRight) return ok(person);
    await noteFailure(ports, { clientKey, emailKey, person: person?.id });
    return refuse({ kind: 'wrong' });
  } finally {
    ofClient.done();
    ofEmail.done();
  }
}

type Failure = { clientKey: string; emailKey: string; person: string | undefined };

async function noteFailure(
  { limits, refusals }: ProofPorts,
  { clientKey, emailKey, person }: Failure,
): Promise<void> {
  await Promise.all([limits.signInsOfClient.hit(clientKey), limits.signInsOfEmail.hit(emailKey)]);
  refusals.log('warn', `sign_in.${clientKey}`, { address: clientKey, person }, 'somebody could not sign in');
}
