import { createHash } from 'node:crypto';
import { type Queryable, query, statement, type Trx } from './db.ts';
import type { AccountId } from './ids.ts';
import type { FieldErrors } from './validation.ts';

const HEADER = 'Idempotency-Key';
const KEY_CHARACTERS_MAX = 255;

/**
 * One key of one account on one kind of request. Its row lives in the service's `idempotency_keys`
 * (account_id, key, body_hash, status, body, resource_id, created_at) and stands or falls with what the
 * request did.
 */
export type IdempotencyKey = { account: AccountId; key: string; bodyHash: string };

/** The request's key, none, or why it cannot be one. */
export function readKey(
  header: string | string[] | undefined,
  account: AccountId,
  rawBody: Buffer,
): IdempotencyKey | undefined | FieldErrors {
  if (header === undefined || header === '') return undefined;
  if (typeof header !== 'string' || header.length > KEY_CHARACTERS_MAX) {
    return {
      [HEADER]: [
        {
          message: `The ${HEADER} must not be greater than ${KEY_CHARACTERS_MAX} characters.`,
          hint: 'Use a short text that names the order, or a UUID.',
        },
      ],
    };
  }
  return { account, key: header, bodyHash: createHash('sha256').update(rawBody).digest('hex') };
}

export const isIdempotencyKey = (value: IdempotencyKey | FieldErrors): value is IdempotencyKey =>
  'bodyHash' in value && typeof value.bodyHash === 'string';

export const otherBody: FieldErrors = {
  [HEADER]: [
    {
      message: `The ${HEADER} was used before with another body.`,
      hint: 'Send the body of the first request byte for byte to get its answer again, or a new key for a new request.',
    },
  ],
};

export type KnownKey =
  | { state: 'answered'; status: number; body: object }
  | { state: 'running' }
  | { state: 'other_body' };

type KeyRow = { bodyHash: string; status: number | null; body: object | null };

const selectKey = query<KeyRow>(
  'idempotency_select',
  `select body_hash, status, body from idempotency_keys where account_id = $1 and key = $2`,
);

/** What became of an earlier request with this key; undefined when there was none. */
export async function findKey(db: Queryable, key: IdempotencyKey): Promise<KnownKey | undefined> {
  const row = await db.maybe(selectKey, [key.account, key.key]);
  if (row === undefined) return undefined;
  if (row.bodyHash !== key.bodyHash) return { state: 'other_body' };
  if (row.status === null || row.body === null) return { state: 'running' };
  return { state: 'answered', status: row.status, body: row.body };
}

const insertKey = statement(
  'idempotency_insert',
  `insert into idempotency_keys (account_id, key, body_hash, resource_id, status, body) values ($1, $2, $3, $4, $5, $6)`,
);

/**
 * Takes the key, with its answer when that is known already. Breaks `idempotency_keys_once` when another
 * request has taken it meanwhile: roll back and look again.
 */
export async function takeKey(
  trx: Trx,
  key: IdempotencyKey,
  resourceId: string,
  answer: { status: number; body: object } | null,
): Promise<void> {
  await trx.rows(insertKey, [
    key.account,
    key.key,
    key.bodyHash,
    resourceId,
    answer?.status ?? null,
    answer === null ? null : JSON.stringify(answer.body),
  ]);
}

const answerKey = statement(
  'idempotency_answer',
  `update idempotency_keys set status = $2, body = $3 where resource_id = $1 and status is null`,
);

/** Stores the answer of the request that made this resource, if it came with a key. */
export async function keepAnswer(trx: Trx, resourceId: string, status: number, body: object): Promise<void> {
  await trx.rows(answerKey, [resourceId, status, JSON.stringify(body)]);
}

const freeKey = statement(
  'idempotency_free',
  `delete from idempotency_keys where resource_id = $1 and status is null`,
);

/** Releases the key: the request ended in a 5xx, which is never stored, and may be repeated. */
export async function forgetKey(trx: Trx, resourceId: string): Promise<void> {
  await trx.rows(freeKey, [resourceId]);
}
