import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { newSecret } from '../endpoint-secrets.ts';
import type { Ports } from '../ports.ts';
import { type Endpoint, replaceSecret, type ValidSecret, validSecretsOf } from '../store/endpoints.ts';
import { lockEndpoint } from './endpoints.ts';

/** The maximum number of secrets is valid until then. */
type TooMany = { kind: 'too_many'; until: Date };
export type RotationRefusal = { kind: AccessRefusal } | TooMany;

/**
 * Gives an endpoint a new secret. For `overlapHours` its deliveries are also signed with the former secrets, so that the
 * receiver has time to change; with 0, the former ones end now. Only this answer contains the secret.
 */
export async function rotateSecret(
  { db, clock, random, encryption }: Pick<Ports, 'db' | 'clock' | 'random' | 'encryption'>,
  account: AccountId,
  id: string,
  overlapHours: number,
): Promise<Result<{ endpoint: Endpoint; secret: string; formerUntil: Date }, RotationRefusal>> {
  const now = clock.now();
  const secret = newSecret(random);
  return await db.transaction(async (trx) => {
    const found = await lockEndpoint(trx, account, id);
    if (!found.ok) return refuse({ kind: found.refusal });
    const endpoint = found.value;
    const rotated = rotate(await validSecretsOf(trx, endpoint.key, now), overlapHours, now);
    if (!rotated.ok) return rotated;
    const formerUntil = rotated.value;
    const encrypted = encryption.encrypt(secret, endpoint.id);
    await replaceSecret(trx, { key: endpoint.key, encrypted, now, formerUntil });
    return ok({ endpoint, secret, formerUntil });
  });
}

const HOUR = 3_600_000;
/** A delivery has one signature per valid secret, and its header must stay short. */
export const VALID_SECRETS_MAX = 5;

/** Decides whether an endpoint may have a new secret, and when its former ones end at the latest. */
export function rotate(
  valid: readonly ValidSecret[],
  overlapHours: number,
  now: Date,
): Result<Date, TooMany> {
  if (overlapHours > 0 && valid.length >= VALID_SECRETS_MAX) {
    const ends = valid.flatMap(({ endsAt }) => (endsAt === null ? [] : [endsAt.getTime()]));
    return refuse({ kind: 'too_many', until: new Date(Math.min(...ends)) });
  }
  return ok(new Date(now.getTime() + overlapHours * HOUR));
}
