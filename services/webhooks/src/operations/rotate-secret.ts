import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { newSecret } from '../endpoint-secrets.ts';
import type { Ports } from '../ports.ts';
import type { Endpoint } from '../store/endpoints.ts';
import { type GoodSecret, goodSecretsOf, replaceSecret } from '../store/secrets.ts';
import { lockEndpoint } from './read-endpoint.ts';

export type RotationRefusal =
  | { kind: AccessRefusal }
  /** As many secrets are good as may be, until then. */
  | { kind: 'too_many'; until: Date };

/**
 * Gives an endpoint a new secret. For so many hours its deliveries are signed with the former ones too, so that the
 * receiver can take its time; without any, the former ones are good no more. The secret is in the answer, and nowhere
 * else ever again.
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
    const rotation = rotate(await goodSecretsOf(trx, endpoint.key, now), overlapHours, now);
    if (rotation.kind === 'too_many') return refuse(rotation);
    const { formerUntil } = rotation;
    const encrypted = encryption.encrypt(secret, endpoint.id);
    await replaceSecret(trx, { key: endpoint.key, encrypted, now, formerUntil });
    return ok({ endpoint, secret, formerUntil });
  });
}

const HOUR = 3_600_000;
/** A delivery has a signature for each secret that is good: its header stays short. */
export const GOOD_SECRETS_MAX = 5;

export type Rotation =
  /** The former ones are good until then, those that end earlier excepted. */
  | { kind: 'rotated'; formerUntil: Date }
  /** Too many would be good at once, until the first of them ends. */
  | { kind: 'too_many'; until: Date };

/** What becomes of an endpoint's secrets when it is given a new one. Without an overlap no former one is good any more. */
export function rotate(good: readonly GoodSecret[], overlapHours: number, now: Date): Rotation {
  if (overlapHours > 0 && good.length >= GOOD_SECRETS_MAX) {
    const ends = good.flatMap(({ endsAt }) => (endsAt === null ? [] : [endsAt.getTime()]));
    return { kind: 'too_many', until: new Date(Math.min(...ends)) };
  }
  return { kind: 'rotated', formerUntil: new Date(now.getTime() + overlapHours * HOUR) };
}
