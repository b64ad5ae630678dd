import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { PasskeyId, PersonId } from '@quittance/shared/ids';

/** A passkey as its person sees it. */
export type Passkey = { id: PasskeyId; name: string; createdAt: Date; lastUsedAt: Date | null };

/** What a browser is told of a passkey: the device's own id of it, and how the device is reached. */
export type PasskeyCredential = { credentialId: string; transports: string[] };

/** A passkey with what verifies a signature, and with its person. */
export type OwnedPasskey = {
  id: PasskeyId;
  credentialId: string;
  publicKey: Buffer;
  person: PersonId;
  email: string;
  personName: string;
  handle: Buffer;
};

const columns = 'k.id, k.name, k.created_at, k.last_used_at';

const selectPasskeys = query<Passkey & PasskeyCredential>(
  'passkeys_of_person',
  `select ${columns}, k.credential_id, k.transports from passkeys k where k.person_id = $1 order by k.created_at, k.id`,
);

/** The passkeys of a person, the oldest first. */
export const passkeysOf = (db: Queryable, person: PersonId): Promise<(Passkey & PasskeyCredential)[]> =>
  db.rows(selectPasskeys, [person]);

const selectHandle = query<{ handle: Buffer }>(
  'passkey_handle',
  'select passkey_handle as handle from people where id = $1',
);

/** What devices store as the id of the person. */
export const handleOf = async (db: Queryable, person: PersonId): Promise<Buffer> =>
  (await db.one(selectHandle, [person])).handle;

const selectOwned = query<OwnedPasskey>(
  'passkey_by_credential',
  `select k.id, k.credential_id, k.public_key, p.id as person, p.email, p.name as person_name, p.passkey_handle as handle
   from passkeys k join people p on p.id = k.person_id where k.credential_id = $1`,
);

export const passkeyByCredential = (db: Queryable, credentialId: string): Promise<OwnedPasskey | undefined> =>
  db.maybe(selectOwned, [credentialId]);

const insertSql = statement(
  'passkey_insert',
  `insert into passkeys (id, person_id, name, credential_id, public_key, sign_count, transports, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (credential_id) do nothing returning 1`,
);

export type NewPasskey = Omit<Passkey, 'lastUsedAt'> &
  PasskeyCredential & { person: PersonId; publicKey: Uint8Array; signCount: number };

/** False when it is somebody's already. */
export async function insertPasskey(trx: Trx, passkey: NewPasskey): Promise<boolean> {
  const { id, person, name, credentialId, publicKey, signCount, transports, createdAt } = passkey;
  const key = Buffer.from(publicKey);
  const values = [id, person, name, credentialId, key, signCount, transports, createdAt];
  return (await trx.rows(insertSql, values)).length === 1;
}

const useSql = statement(
  'passkey_use',
  `update passkeys set sign_count = $2, last_used_at = $3
   where id = $1 and (sign_count < $2::bigint or (sign_count = 0 and $2::bigint = 0)) returning 1`,
);

/**
 * Stores a use of a passkey: false when its signature counter is not higher than the one before, or the passkey is gone. A
 * removal meanwhile waits until the transaction ends.
 */
export const usePasskey = async (trx: Trx, id: PasskeyId, signCount: number, now: Date): Promise<boolean> =>
  (await trx.rows(useSql, [id, signCount, now])).length === 1;

const selectCount = query<{ signCount: string }>(
  'passkey_sign_count',
  'select sign_count::text from passkeys where id = $1',
);

/** The signature counter of its last use; undefined when the passkey is gone. */
export const signCountOf = async (db: Queryable, id: PasskeyId): Promise<string | undefined> =>
  (await db.maybe(selectCount, [id]))?.signCount;

const renameSql = query<Passkey>(
  'passkey_rename',
  `update passkeys k set name = $3 where id = $1 and person_id = $2 returning ${columns}`,
);

export const storePasskeyName = (
  trx: Trx,
  { id, person, name }: { id: string; person: PersonId; name: string },
): Promise<Passkey | undefined> => trx.maybe(renameSql, [id, person, name]);

const deleteSql = query<{ name: string }>(
  'passkeys_delete',
  'delete from passkeys where person_id = $1 and ($2::text is null or id = $2) returning name',
);

/** Deletes passkeys of a person: one of them, or all (null). @returns their names */
export const deletePasskeys = async (trx: Trx, person: PersonId, only: string | null): Promise<string[]> =>
  (await trx.rows(deleteSql, [person, only])).map(({ name }) => name);
