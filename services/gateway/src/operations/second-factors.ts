import { randomBytes } from 'node:crypto';
import type { Trx } from '@quittance/shared/db';
import { Unavailable } from '@quittance/shared/http';
import type { PersonId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { RateLimitResult } from '../domain/rate-limit.ts';
import type { Ports } from '../ports.ts';
import { lockPerson, noteAct } from '../store/people.ts';
import {
  acceptStep,
  confirmPending,
  removeTotp,
  replaceRecoveryCodes,
  type SecondFactors,
  secondFactorsOf,
  storePending,
  useRecoveryCode,
} from '../store/second-factors.ts';
import { endSessions, isEnded } from '../store/sessions.ts';
import { base32, matchingStep, newRecoveryCode, newTotpSecret, readRecoveryCode, totpUri } from '../totp.ts';
import { digestOf } from './one-time-secret.ts';
import { type PersonAsker, personAuthor } from './person-asker.ts';

type FactorPorts = Pick<Ports, 'db' | 'clock' | 'limits' | 'totpSecrets'>;

const RECOVERY_CODES = 10;

/** `given`: a code was given, and it does not count. */
export type FactorRefusal =
  | { kind: 'second_factor'; given: boolean }
  | { kind: 'too_many'; rateLimit: RateLimitResult };

/** Whether a person whose password was right has shown the second factor too, when there is one. */
export async function proveSecondFactor(
  ports: FactorPorts,
  person: PersonId,
  code: string | null,
): Promise<Result<void, FactorRefusal>> {
  const factors = await secondFactorsOf(ports.db, person);
  if (factors.totpSecret === null) return ok(undefined);
  if (code === null) return refuse({ kind: 'second_factor', given: false });
  const { codes } = ports.limits;
  const begun = await codes.begin(person);
  try {
    if (!begun.allowed) return refuse({ kind: 'too_many', rateLimit: begun });
    if (await isAccepted(ports, person, factors.totpSecret, code.trim())) return ok(undefined);
    await codes.hit(person);
    return refuse({ kind: 'second_factor', given: true });
  } finally {
    begun.done();
  }
}

async function isAccepted(
  ports: FactorPorts,
  person: PersonId,
  encrypted: Buffer,
  code: string,
): Promise<boolean> {
  const recovery = readRecoveryCode(code);
  if (recovery !== undefined) {
    return ports.db.transaction(async (trx) => {
      if (!(await useRecoveryCode(trx, person, digestOf(recovery)))) return false;
      const author = { actor: `person ${person}` };
      await noteAct(trx, { author, action: 'person.recovery_code_used', subject: person });
      return true;
    });
  }
  const secret = keyIn(ports).decrypt(encrypted, person);
  const step = matchingStep(secret, code, ports.clock.now());
  return step !== undefined && (await acceptStep(ports.db, person, step));
}

function keyIn({ totpSecrets }: Pick<Ports, 'totpSecrets'>) {
  if (totpSecrets === undefined)
    throw new Unavailable('TOTP_SECRETS_KEY is not set, so codes cannot be checked');
  return totpSecrets;
}

export type TotpRefusal = 'not_set' | 'has_one' | 'has_none' | 'wrong_code' | 'session_ended';

/** Sets up a secret, which counts with its first code. @returns the secret and what an app reads from a QR code */
export async function beginTotp(
  { db, totpSecrets, ownOrigin }: Pick<Ports, 'db' | 'totpSecrets' | 'ownOrigin'>,
  { session: { person, email } }: PersonAsker,
): Promise<Result<{ secret: string; uri: string }, TotpRefusal>> {
  if (totpSecrets === undefined) return refuse('not_set');
  return db.transaction(async (trx) => {
    if ((await secondFactorsOf(trx, person)).totpSecret !== null) return refuse('has_one');
    const secret = newTotpSecret(randomBytes);
    await storePending(trx, person, totpSecrets.encrypt(secret, person));
    return ok({ secret: base32(secret), uri: totpUri(secret, email, new URL(ownOrigin).host) });
  });
}

/** Has the secret count from now on. All other sessions end. @returns the recovery codes */
export async function confirmTotp(
  ports: FactorPorts,
  asker: PersonAsker,
  code: string,
): Promise<Result<string[], TotpRefusal>> {
  const { db, clock } = ports;
  const { person, id } = asker.session;
  return db.transaction(async (trx) => {
    await lockPerson(trx, person);
    // The operator may have reset the person meanwhile: then no second factor of this session may stay.
    if (await isEnded(trx, id)) return refuse('session_ended');
    const { totpSecret, totpPending } = await secondFactorsOf(trx, person);
    if (totpSecret !== null) return refuse('has_one');
    if (totpPending === null) return refuse('has_none');
    const step = matchingStep(keyIn(ports).decrypt(totpPending, person), code.trim(), clock.now());
    if (step === undefined) return refuse('wrong_code');
    if (!(await confirmPending(trx, person, totpPending, step))) return refuse('has_one');
    await endSessions(trx, person, { but: id });
    await note(trx, asker, 'totp_added');
    return ok(await newCodes(trx, person));
  });
}

/** Takes the second factor away, with the recovery codes. */
export const endTotp = ({ db }: Pick<Ports, 'db'>, asker: PersonAsker): Promise<Result<void, TotpRefusal>> =>
  db.transaction(async (trx) => {
    const { person } = asker.session;
    if (!(await removeTotp(trx, person))) return refuse('has_none');
    await replaceRecoveryCodes(trx, person, []);
    await note(trx, asker, 'totp_removed');
    return ok(undefined);
  });

/** New recovery codes in the place of all former ones. */
export const replaceCodes = (
  { db }: Pick<Ports, 'db'>,
  asker: PersonAsker,
): Promise<Result<string[], TotpRefusal>> =>
  db.transaction(async (trx) => {
    const { person } = asker.session;
    await lockPerson(trx, person);
    if ((await secondFactorsOf(trx, person)).totpSecret === null) return refuse('has_none');
    await note(trx, asker, 'recovery_codes_replaced');
    return ok(await newCodes(trx, person));
  });

async function newCodes(trx: Trx, person: PersonId): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => newRecoveryCode(randomBytes));
  await replaceRecoveryCodes(trx, person, codes.map(digestOf));
  return codes;
}

const note = (trx: Trx, { session, client }: PersonAsker, what: string): Promise<void> =>
  noteAct(trx, {
    author: personAuthor(session.person, { client }),
    action: `person.${what}`,
    account: session.account,
    subject: session.person,
  });

export const factorsOf = ({ db }: Pick<Ports, 'db'>, person: PersonId): Promise<SecondFactors> =>
  secondFactorsOf(db, person);
