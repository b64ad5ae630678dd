import { withBatchPause } from './batch-pause.ts';
import type { Bus } from './bus.ts';
import { startConsumer } from './consumer.ts';
import type { Db } from './db.ts';
import { kindsFor, type Service } from './events.ts';
import type { Handlers } from './handlers.ts';
import { answerPruning, pruneInboxStep } from './inbox-pruning.ts';
import type { Logger } from './logger.ts';
import { RELAY_BATCH, relayStep } from './outbox.ts';
import { answerReconcilers, reconcileStep } from './reconcile.ts';
import { startWorker } from './worker.ts';

const RELAY_EVERY_MS = 100;
/** A lost event is noticed after 20 s at the earliest. With two unanswered requests it still arrives within 60 s. */
const RECONCILE_EVERY_MS = 10_000;
const PRUNE_EVERY_MS = 3_600_000;

export type MessengerOptions<P = unknown> = {
  db: Db;
  bus: Bus;
  service: Service;
  logger: Logger;
  /** What this service does with events; none for a service that receives none. */
  handlers?: Handlers<P> | undefined;
  /** What the handlers are given. */
  ports?: P;
  /** Called after each batch that was processed. */
  committed?: () => void;
};

export type Messenger = {
  /** The outbox has new events: send them now, not at the next step. */
  wake(): void;
  /** Stops processing, then sending. */
  stop(): Promise<void>;
};

/**
 * Runs what a service needs for events: the relay publishes its outbox, the consumer processes events of other services, and
 * the reconciler finds and sends again what was lost.
 */
export function startMessenger<P>({
  db,
  bus,
  service,
  logger,
  handlers,
  ports,
  committed,
}: MessengerOptions<P>): Messenger {
  const relay = startWorker({
    name: 'relay',
    everyMs: RELAY_EVERY_MS,
    step: async () => {
      const carried = await withBatchPause(
        () => relayStep(db, bus, logger),
        (count) => count === 0 || count >= RELAY_BATCH,
      );
      // A commit with more events wakes the relay; a step that finds nothing costs as much as one that finds events.
      return carried >= RELAY_BATCH ? carried : 0;
    },
    logger,
  });
  const reconciler = startWorker({
    name: 'reconciler',
    everyMs: RECONCILE_EVERY_MS,
    step: () => reconcileStep(db, bus, logger),
    logger,
  });
  const consumer =
    handlers !== undefined && kindsFor(service).length > 0
      ? startConsumer({
          db,
          bus,
          service,
          handlers,
          ports: ports as P,
          logger,
          committed: () => {
            relay.wake();
            committed?.();
          },
        })
      : undefined;
  const pruning =
    consumer === undefined
      ? undefined
      : startWorker({
          name: 'prune the inbox',
          everyMs: PRUNE_EVERY_MS,
          step: () => pruneInboxStep(db, bus, service),
          logger,
        });
  answerReconcilers(bus, db, service);
  answerPruning(bus, db, service);
  return {
    wake: relay.wake,
    async stop() {
      await consumer?.stop();
      await Promise.all([relay.stop(), reconciler.stop(), pruning?.stop()]);
    },
  };
}
