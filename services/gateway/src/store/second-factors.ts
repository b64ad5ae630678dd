import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { PersonId } from '@quittance/shared/ids';

/** What a person has beside the password. The secrets are encrypted. */
export type SecondFactors = {
  totpSecret: Buffer | null;
  totpPending: Buffer | null;
  recoveryCodes: number;
  /** How many passkeys: each signs in without the password. */
  passkeys: number;
};

const selectFactors = query<SecondFactors>(
  'second_factors',
  `select totp_secret, totp_pending,
     (select count(*)::int from recovery_codes r where r.person_id = p.id) as recovery_codes,
     (select count(*)::int from passkeys k where k.person_id = p.id) as passkeys
   from people p where id = $1`,
);

export const secondFactorsOf = (db: Queryable, person: PersonId): Promise<SecondFactors> =>
  db.one(selectFactors, [person]);

const acceptStepSql = statement(
  'totp_accept_step',
  `update people set totp_last_step = $2 where id = $1 and totp_secret is not null and coalesce(totp_last_step, -1) < $2 returning 1`,
);

/** Whether the code of this step counts: once, and none of a step before it. Also when two requests come at once. */
export const acceptStep = async (db: Queryable, person: PersonId, step: number): Promise<boolean> =>
  (await db.rows(acceptStepSql, [person, step])).length === 1;

const useCodeSql = statement(
  'recovery_code_use',
  'delete from recovery_codes where person_id = $1 and code_hash = $2 returning 1',
);

/** Uses a recovery code, once. */
export const useRecoveryCode = async (db: Queryable, person: PersonId, hash: Buffer): Promise<boolean> =>
  (await db.rows(useCodeSql, [person, hash])).length === 1;

const pendSql = statement('totp_pend', 'update people set totp_pending = $2 where id = $1');

export async function storePending(trx: Trx, person: PersonId, encrypted: Buffer): Promise<void> {
  await trx.rows(pendSql, [person, encrypted]);
}

const confirmSql = statement(
  'totp_confirm',
  `update people set totp_secret = totp_pending, totp_pending = null, totp_last_step = $3
   where id = $1 and totp_pending = $2 and totp_secret is null returning 1`,
);

/** Has the pending secret count, unless another one was set up or confirmed meanwhile. */
export const confirmPending = async (
  trx: Trx,
  person: PersonId,
  pending: Buffer,
  step: number,
): Promise<boolean> => (await trx.rows(confirmSql, [person, pending, step])).length === 1;

const removeSql = statement(
  'totp_remove',
  `with former as (select id, totp_secret from people where id = $1 for update)
   update people p set totp_secret = null, totp_pending = null, totp_last_step = null
   from former where p.id = former.id and former.totp_secret is not null returning 1`,
);

/** False when there was none. */
export const removeTotp = async (trx: Trx, person: PersonId): Promise<boolean> =>
  (await trx.rows(removeSql, [person])).length === 1;

const deleteCodes = statement('recovery_codes_delete', 'delete from recovery_codes where person_id = $1');
const codes = bulk({ hash: 'bytea' });
const insertCodes = statement(
  'recovery_codes_insert',
  `insert into recovery_codes (person_id, code_hash) select $2, hash from ${codes.from('code')}`,
);

/** Puts these recovery codes in the place of all former ones. */
export async function replaceRecoveryCodes(
  trx: Trx,
  person: PersonId,
  hashes: readonly Buffer[],
): Promise<void> {
  await trx.rows(deleteCodes, [person]);
  if (hashes.length > 0)
    await trx.rows(insertCodes, [...codes.values(hashes.map((hash) => ({ hash }))), person]);
}
