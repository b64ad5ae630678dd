import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import type { Result } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { resetQueue } from '../store/endpoint-queues.ts';
import { changeEndpointRow, disableEndpoints, type Endpoint, enableEndpoint } from '../store/endpoints.ts';
import { CANCEL_BATCH, cancelWaitingOf } from './cancel-deliveries.ts';
import { lockEndpoint, readEndpoint } from './read-endpoint.ts';

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
  const change = (): Promise<Result<Endpoint, AccessRefusal> | 'not_yet'> =>
    db.transaction(async (trx) => {
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
      if (!after.enabled && before.enabled) {
        await disableEndpoints(trx, [{ key: before.key, reason: 'Disabled by its owner.' }], now);
      }
      return await readEndpoint({ db: trx }, account, id);
    });
  for (;;) {
    const changed = await change();
    if (changed !== 'not_yet') return changed;
  }
}
