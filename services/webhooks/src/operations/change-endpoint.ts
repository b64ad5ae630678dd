import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import type { Result } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { resetQueue } from '../store/endpoint-queues.ts';
import { changeEndpointRow, disableEndpoints, type Endpoint, enableEndpoint } from '../store/endpoints.ts';
import { CANCEL_BATCH, cancelWaitingOf } from './cancel-deliveries.ts';
import { lockEndpoint, readEndpoint } from './read-endpoint.ts';

/** What is not named stays as it is. */
export type Changes = Partial<Pick<Endpoint, 'url' | 'eventTypes' | 'description' | 'enabled'>>;

/**
 * Changes an endpoint as its owner asks. What waits goes to a new URL from then on. Disabled, nothing is sent to it
 * any more; enabled again, it is told of what happens from then on, and what it has missed can be replayed.
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
      // What waited when it was disabled stays cancelled: with a queue again, it would be sent.
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
