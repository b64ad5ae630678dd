import type { Bus } from '@quittance/shared/bus';
import type { Service } from '@quittance/shared/events';
import { pruneOutboxStep } from '@quittance/shared/outbox';
import { reconcileStep } from '@quittance/shared/reconcile';
import { CLAIM_MS, type Environment } from './environment.ts';

/** A step of a relay, which another one follows when some of its events may be left. */
export async function relayOnce(
  environment: Environment,
  service: Service,
  bus: Bus,
  relay: (bus: Bus) => Promise<number>,
): Promise<number> {
  environment.isToRelay.delete(service);
  const begunAt = environment.scheduler.now;
  let isUnheard = false;
  const publish: Bus['publish'] = async (messages) => {
    const stored = await bus.publish(messages);
    isUnheard = stored.includes(false);
    return stored;
  };
  try {
    const done = await relay({ ...bus, publish });
    // It was stopped before it gave them back: others have looked for them in vain.
    if (isUnheard && environment.scheduler.now - begunAt >= CLAIM_MS) environment.relayLater(service);
    return done;
  } catch (error) {
    environment.relayLater(service);
    throw error;
  }
}

/** What two workers do: the outbox is pruned when the reconciler has nothing to do. */
export const reconcileAndPrune: typeof reconcileStep = async (db, ...given) =>
  (await reconcileStep(db, ...given)) || pruneOutboxStep(db);
