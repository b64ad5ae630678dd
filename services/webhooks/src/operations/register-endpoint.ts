import { type AccountId, newEndpointId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { newSecret } from '../endpoint-secrets.ts';
import type { Ports } from '../ports.ts';
import { type Endpoint, endpointsOf, insertEndpoint, lockAccount } from '../store/endpoints.ts';

export const ENDPOINTS_MAX = 20;

type EndpointRequest = { account: AccountId; url: string; eventTypes: string[]; description: string | null };

/** Registers an endpoint with a new secret. Only this answer contains the secret. */
export async function registerEndpoint(
  { db, clock, random, encryption }: Pick<Ports, 'db' | 'clock' | 'random' | 'encryption'>,
  { account, url, eventTypes, description }: EndpointRequest,
): Promise<Result<{ endpoint: Endpoint; secret: string }, 'too_many'>> {
  const now = clock.now();
  const id = newEndpointId(now, random);
  const secret = newSecret(random);
  return await db.transaction(async (trx) => {
    // Of two concurrent registrations only one may be the twentieth.
    await lockAccount(trx, account);
    if ((await endpointsOf(trx, account)).length >= ENDPOINTS_MAX) return refuse('too_many');
    const endpoint = await insertEndpoint(trx, {
      id,
      accountId: account,
      url,
      eventTypes,
      description,
      createdAt: now,
      encryptedSecret: encryption.encrypt(secret, id),
    });
    return ok({ endpoint, secret });
  });
}
