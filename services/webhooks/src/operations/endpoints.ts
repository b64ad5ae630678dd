import type { Queryable, Trx } from '@quittance/shared/db';
import type { AccessRefusal } from '@quittance/shared/http-answers';
import { type AccountId, newEndpointId, newEventId } from '@quittance/shared/ids';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import { type DeliveryId, deliveryIdOf } from '../domain/delivery.ts';
import type { LoggedEvent } from '../domain/envelope.ts';
import { newSecret } from '../endpoint-secrets.ts';
import type { Ports } from '../ports.ts';
import { insertDelivery } from '../store/deliveries.ts';
import { lockQueues, resetQueue } from '../store/endpoint-queues.ts';
import {
  changeEndpointRow,
  countEndpointTest,
  deleteEndpointRow,
  disableEndpoints,
  type Endpoint,
  enableEndpoint,
  endpointsOf,
  findEndpoint,
  insertEndpoint,
  lockAccount,
} from '../store/endpoints.ts';
import { findEvent, insertEvents } from '../store/events.ts';
import { CANCEL_BATCH, cancelWaitingOf } from './cancel-deliveries.ts';

export const ENDPOINTS_MAX = 20;

/** One endpoint of the account. */
export async function readEndpoint(
  { db }: { db: Queryable },
  account: AccountId,
  id: string,
): Promise<Result<Endpoint, AccessRefusal>> {
  const endpoint = await findEndpoint(db, id);
  if (endpoint === undefined) return refuse('not_found');
  return endpoint.accountId === account ? ok(endpoint) : refuse('forbidden');
}

/**
 * One endpoint of the account, locked until the transaction ends: nothing is recorded for it, claimed from it or changed
 * about it before then.
 */
export async function lockEndpoint(
  trx: Trx,
  account: AccountId,
  id: string,
): Promise<Result<Endpoint, AccessRefusal>> {
  const found = await readEndpoint({ db: trx }, account, id);
  if (!found.ok) return found;
  await lockAccount(trx, account);
  await lockQueues(trx, [found.value.key]);
  // The transaction that held the locks before may have changed it.
  return await readEndpoint({ db: trx }, account, id);
}

/** One page of an account's endpoints, the newest first, and their total. */
export async function listEndpoints(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ endpoints: Endpoint[]; total: number }> {
  // An account has at most 20, so all are read.
  const all = await endpointsOf(db, account);
  return { endpoints: all.slice((page - 1) * perPage, page * perPage), total: all.length };
}

type EndpointRequest = Pick<Endpoint, 'url' | 'eventTypes' | 'description'> & { account: AccountId };

/** Registers an endpoint with a new secret. Only this answer contains the secret. */
export async function registerEndpoint(
  { db, clock, random, encryption }: Pick<Ports, 'db' | 'clock' | 'random' | 'encryption'>,
  { account: accountId, ...fields }: EndpointRequest,
): Promise<Result<{ endpoint: Endpoint; secret: string }, 'too_many'>> {
  const createdAt = clock.now();
  const id = newEndpointId(createdAt, random);
  const secret = newSecret(random);
  const encryptedSecret = encryption.encrypt(secret, id);
  return await db.transaction(async (trx) => {
    // Of two concurrent registrations only one may be the twentieth.
    await lockAccount(trx, accountId);
    if ((await endpointsOf(trx, accountId)).length >= ENDPOINTS_MAX) return refuse('too_many');
    const endpoint = await insertEndpoint(trx, { id, accountId, ...fields, createdAt, encryptedSecret });
    return ok({ endpoint, secret });
  });
}

/** Fields that are not given stay. */
export type Changes = Partial<Pick<Endpoint, 'url' | 'eventTypes' | 'description' | 'enabled'>>;

/**
 * Changes an endpoint for its owner. Waiting deliveries go to a new URL at once. Nothing is sent to a disabled endpoint.
 * When it is enabled again, it receives new events, and missed ones can be replayed.
 */
export async function changeEndpoint(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  account: AccountId,
  id: string,
  changes: Changes,
): Promise<Result<Endpoint, AccessRefusal>> {
  const now = clock.now();
  const change = async (trx: Trx): Promise<Result<Endpoint, AccessRefusal> | 'not_yet'> => {
    const found = await lockEndpoint(trx, account, id);
    if (!found.ok) return found;
    const before = found.value;
    const after = { ...before, ...changes };
    const enables = after.enabled && !before.enabled;
    // Deliveries that waited when it was disabled stay cancelled: with a queue they would be sent.
    if (enables && (await cancelWaitingOf(trx, before.key)) === CANCEL_BATCH) return 'not_yet';
    await changeEndpointRow(trx, after, now);
    if (after.url !== before.url) await resetQueue(trx, before.key, now);
    if (enables) await enableEndpoint(trx, before.key, now);
    if (!after.enabled && before.enabled)
      await disableEndpoints(trx, [{ key: before.key, reason: 'Disabled by its owner.' }], now);
    return await readEndpoint({ db: trx }, account, id);
  };
  for (;;) {
    const changed = await db.transaction(change);
    if (changed !== 'not_yet') return changed;
  }
}

/** Deletes an endpoint: nothing more is sent to it, apart from attempts in flight. */
export async function deleteEndpoint(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  account: AccountId,
  id: string,
): Promise<Result<null, AccessRefusal>> {
  return await db.transaction(async (trx) => {
    const found = await lockEndpoint(trx, account, id);
    if (!found.ok) return found;
    await deleteEndpointRow(trx, found.value.key, clock.now());
    return ok(null);
  });
}

/** Appends a test event to the account's log and queues it for this endpoint only, whatever its event types. */
export async function testEndpoint(
  { db, clock, random }: Pick<Ports, 'db' | 'clock' | 'random'>,
  account: AccountId,
  id: string,
): Promise<Result<{ event: LoggedEvent; deliveryId: DeliveryId }, AccessRefusal | 'disabled'>> {
  const now = clock.now();
  const eventId = newEventId(now, random);
  return await db.transaction(async (trx) => {
    const found = await lockEndpoint(trx, account, id);
    if (!found.ok) return found;
    const endpoint = found.value;
    if (!endpoint.enabled) return refuse('disabled');
    const data = { webhook_id: endpoint.id, message: 'This is a test: nothing has happened.' };
    const [numbered] = await insertEvents(trx, [
      {
        id: eventId,
        accountId: account,
        kind: 'webhook.test',
        createdAt: now,
        resourceId: endpoint.id,
        version: await countEndpointTest(trx, endpoint.key),
        data: JSON.stringify(data),
      },
    ]);
    invariant(numbered !== undefined, 'an event that was logged has a number');
    await insertDelivery(trx, { endpointKey: endpoint.key, sequence: numbered.sequence }, now);
    const event = await findEvent(trx, eventId);
    invariant(event !== undefined, 'an event that was logged can be read');
    return ok({ event, deliveryId: deliveryIdOf(endpoint.id, eventId) });
  });
}
