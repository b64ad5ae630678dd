import type { RequestOf } from '@quittance/shared/commands';
import { type Queryable, query, statement } from '@quittance/shared/db';
import { actorAsserted, type RequestProof } from '@quittance/shared/identity';
import type { ActorId, AssertionId } from '@quittance/shared/ids';

/** The request by which a merchant has asked for something, as it came. `id`: of its assertion. */
export type KeptRequest = RequestProof & { id: AssertionId };

/** Who has sent a request that was verified before it was kept; null where a former gateway has not said it. */
export const makerOf = (request: KeptRequest | null): ActorId | null =>
  request === null ? null : (actorAsserted(request.assertion) ?? null);

/** What `insertOf` takes, from this parameter on. */
export const proofValues = (proof: KeptRequest | null): unknown[] => [
  proof?.id ?? null,
  proof?.assertion ?? null,
  proof?.method ?? null,
  proof?.path ?? null,
  proof === null ? null : Buffer.from(proof.body),
];

/** A statement that keeps a request where a row of `made` was written, or has kept it before. */
export const insertOf = (first: number, made: string): string =>
  `insert into request_proofs (assertion_id, assertion, method, path, body)
   select $${first}::text, $${first + 1}::text, $${first + 2}::text, $${first + 3}::text, $${first + 4}::bytea
   where $${first}::text is not null and exists (select from ${made})
   on conflict do nothing`;

const insert = statement('request_proofs_insert', insertOf(1, '(values (1)) as one'));

/** Keeps a request, in the transaction that stores what it asks for. */
export async function keepRequest(db: Queryable, proof: KeptRequest): Promise<void> {
  await db.rows(insert, proofValues(proof));
}

const selectOne = query<KeptRequest>(
  'request_proofs_one',
  'select assertion_id as id, assertion, method, path, body from request_proofs where assertion_id = $1',
);

/** A kept request; null where a former release has kept none. */
export const findRequest = async (db: Queryable, id: AssertionId | null): Promise<KeptRequest | null> =>
  id === null ? null : ((await db.maybe(selectOne, [id])) ?? null);

/** The proof of a hold as the ledger is shown it. `item`: the line of a batch. */
export const proofView = (
  { assertion, method, path, body }: KeptRequest,
  item = 0,
): NonNullable<RequestOf<'hold.place'>['proof']> => ({
  assertion,
  method,
  path,
  body: Buffer.from(body).toString('base64'),
  item,
});
