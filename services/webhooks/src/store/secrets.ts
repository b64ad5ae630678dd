import { type Db, query, statement, type Trx } from '@quittance/shared/db';

/** When a valid secret ends; null for the newest. */
export type ValidSecret = { endsAt: Date | null };

const selectValid = query<ValidSecret>(
  'secrets_valid',
  `select ends_at from endpoint_secrets
   where endpoint_key = $1 and (ends_at is null or ends_at > $2) order by ends_at`,
);

/** When the valid secrets of an endpoint end, the first first. */
export const validSecretsOf = (trx: Trx, key: string, now: Date): Promise<ValidSecret[]> =>
  trx.rows(selectValid, [key, now]);

const replace = statement(
  'secret_replace',
  // Two secrets of one millisecond keep their order.
  `with former as (
     update endpoint_secrets set ends_at = least(ends_at, $3)
     where endpoint_key = $1 and (ends_at is null or ends_at > $2))
   insert into endpoint_secrets (endpoint_key, encrypted_secret, created_at)
   select $1, $4, greatest($2, max(created_at) + interval '1 millisecond')
   from endpoint_secrets where endpoint_key = $1`,
);

/** Gives a locked endpoint a new secret. Its former ones end at `formerUntil`, or earlier as they were to. */
export async function replaceSecret(
  trx: Trx,
  { key, encrypted, now, formerUntil }: { key: string; encrypted: Buffer; now: Date; formerUntil: Date },
): Promise<void> {
  await trx.rows(replace, [key, now, formerUntil, encrypted]);
}

const removeEnded = statement(
  'secrets_remove_ended',
  `delete from endpoint_secrets where ends_at <= $1 returning 1`,
);

/** Removes ended secrets. @returns how many */
export async function removeEndedSecrets(db: Db, now: Date): Promise<number> {
  return (await db.rows(removeEnded, [now])).length;
}
