import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { rotate } from '../domain/rotation.ts';
import type { Ports } from '../ports.ts';
import { newSecret } from '../signature.ts';
import type { Endpoint } from '../store-endpoints.ts';
import { goodSecretsOf, replaceSecret } from '../store-secrets.ts';
import { lockEndpoint } from './lock-endpoint.ts';

export type RotationRefusal =
  | { kind: 'unknown' | 'not_yours' }
  /** As many secrets are good as may be, until then. */
  | { kind: 'too_many'; until: Date };

/**
 * Gives an endpoint a new secret. For so many hours its deliveries are signed with the former ones too, so that the
 * receiver can take its time; without any, the former ones are good no more. The secret is in the answer, and nowhere
 * else ever again.
 */
export async function rotateSecret(
  { db, clock, random, seal }: Pick<Ports, 'db' | 'clock' | 'random' | 'seal'>,
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
    const sealed = seal.close(secret, endpoint.id);
    await replaceSecret(trx, { key: endpoint.key, sealed, now, formerUntil });
    return ok({ endpoint, secret, formerUntil });
  });
}
