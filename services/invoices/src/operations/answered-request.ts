import { brokenConstraint } from '@quittance/shared/db-errors';
import { findKey, type IdempotencyKey, otherBody } from '@quittance/shared/idempotency';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import type { FieldErrors } from '@quittance/shared/validation';
import type { Ports } from '../ports.ts';

/** The answer to the merchant; `replayed` when an earlier request with the same key had it. */
export type Created = { status: number; body: object; replayed: boolean };

/** The answer to an earlier request with this key; undefined when there was none. */
export async function answerTo(
  { db }: Pick<Ports, 'db'>,
  key: IdempotencyKey,
): Promise<Result<Created, FieldErrors> | undefined> {
  const known = await findKey(db, key);
  if (known === undefined) return undefined;
  if (known.state === 'other_body') return refuse(otherBody);
  invariant(known.state === 'answered', 'a resource and the answer to its request are saved together');
  return ok({ status: known.status, body: known.body, replayed: true });
}

/**
 * Saves what a request creates, together with its key where it has one. Throws what `save` throws: UnknownOutcome when the
 * answer to a commit was lost.
 * @returns `answer`, or that of a concurrent request with the same key, which was faster
 */
export async function answerOnce(
  ports: Pick<Ports, 'db'>,
  key: IdempotencyKey | undefined,
  answer: Omit<Created, 'replayed'>,
  save: () => Promise<void>,
): Promise<Result<Created, FieldErrors>> {
  try {
    await save();
  } catch (error) {
    if (key === undefined || brokenConstraint(error) !== 'idempotency_keys_once') throw error;
    const winner = await answerTo(ports, key);
    invariant(winner !== undefined, 'an idempotency key that conflicts is stored');
    return winner;
  }
  return ok({ ...answer, replayed: false });
}
