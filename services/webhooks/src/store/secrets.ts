import { type Db, query, statement, type Trx } from '@quittance/shared/db';

/** A secret that deliveries are signed with now, and when that ends; null for the newest. */
export type GoodSecret = { endsAt: Date | null };

const selectGood = query<GoodSecret>(
  'secrets_good',
  `select ends_at from endpoint_secrets
   where endpoint_key = $1 and (ends_at is null or ends_at > $2) order by ends_at`,
);

/** When those end that an endpoint's deliveries are signed with now, the first first. */
export const goodSecretsOf = (trx: Trx, key: string, now: Date): Promise<GoodSecret[]> =>
  trx.rows(selectGood, [key, now]);

const replace = statement(
  'secret_replace',
  // Two in one millisecond are still one after the other.
  `with former as (
     update endpoint_secrets set ends_at = least(ends_at, $3)
     where endpoint_key = $1 and (ends_at is null or ends_at > $2))
   insert into endpoint_secrets (endpoint_key, encrypted_secret, created_at)
   select $1, $4, greatest($2, max(created_at) + interval '1 millisecond')
   from endpoint_secrets where endpoint_key = $1`,
);

/** Gives a locked endpoint a new secret; its former ones are good until `formerUntil`, or end earlier as they were to. */
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

/** Removes secrets that are good no more. */
export async function removeEndedSecrets(db: Db, now: Date): Promise<number> {
  return (await db.rows(removeEnded, [now])).length;
}
