import { type Db, query } from '@quittance/shared/db';
import type { EndpointId } from '@quittance/shared/ids';

/** A stored secret; `endpointKey` is its endpoint's in the database. */
export type StoredSecret = { endpointKey: string; endpointId: EndpointId; encrypted: Buffer };

const selectAfter = query<StoredSecret>(
  'secrets_after',
  `select s.endpoint_key, e.id as endpoint_id, s.encrypted_secret as encrypted
   from endpoint_secrets s join endpoints e on e.key = s.endpoint_key
   where s.endpoint_key in (
     select key from endpoints where key > $1 and deleted_at is null order by key limit $2)
   order by s.endpoint_key, s.created_at`,
);

/** All secrets of the next endpoints after one, by their keys. An endpoint has a few. */
export const secretsAfter = (db: Db, endpointKey: string, endpoints: number): Promise<StoredSecret[]> =>
  db.rows(selectAfter, [endpointKey, endpoints]);

const replace = query<{ replaced: number }>(
  'secret_encrypted_again',
  `with replaced as (
     update endpoint_secrets set encrypted_secret = $3 where endpoint_key = $1 and encrypted_secret = $2 returning 1)
   select count(*)::int as replaced from replaced`,
);

/** @returns false when the secret was removed or replaced in between. */
export const replaceEncrypted = async (
  db: Db,
  { endpointKey, encrypted }: StoredSecret,
  again: Buffer,
): Promise<boolean> => (await db.one(replace, [endpointKey, encrypted, again])).replaced > 0;
