import { type Queryable, statement } from '@quittance/shared/db';
import type { PersonId } from '@quittance/shared/ids';

/** What a challenge is signed for, and by whom. At a sign-in it is not known who it will be. */
export type ChallengeFor =
  | { purpose: 'sign_in'; person: null }
  | { purpose: 'register' | 'step_up'; person: PersonId };

const insertSql = statement(
  'passkey_challenge_insert',
  'insert into passkey_challenges (challenge_hash, purpose, person_id) values ($1, $2, $3)',
);

export async function insertChallenge(
  db: Queryable,
  hash: Buffer,
  { purpose, person }: ChallengeFor,
): Promise<void> {
  await db.rows(insertSql, [hash, purpose, person]);
}

const isOpen = (minutes: string): string => `created_at > now() - ${minutes}::int * interval '1 minute'`;

const claimSql = statement(
  'passkey_challenge_claim',
  `delete from passkey_challenges
   where challenge_hash = $1 and purpose = $2 and person_id is not distinct from $3 and ${isOpen('$4')} returning 1`,
);

/** Takes a challenge, once: of several requests with it one gets it. The database's clock decides, so that all gateways agree. */
export const claimChallenge = async (
  db: Queryable,
  hash: Buffer,
  { purpose, person }: ChallengeFor,
  minutes: number,
): Promise<boolean> => (await db.rows(claimSql, [hash, purpose, person, minutes])).length === 1;

const deleteSql = statement(
  'passkey_challenges_expired',
  `delete from passkey_challenges where challenge_hash in (
     select challenge_hash from passkey_challenges where not ${isOpen('$1')} limit $2)
   returning 1`,
);

/** Deletes challenges that have expired. @returns how many */
export const deleteExpired = async (db: Queryable, minutes: number, limit: number): Promise<number> =>
  (await db.rows(deleteSql, [minutes, limit])).length;
