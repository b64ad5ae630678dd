import type { Bus } from './bus.ts';
import { startConsumer } from './consumer.ts';
import type { Db } from './db.ts';
import { kindsFor, type Service } from './events.ts';
import { thenRest } from './gather-pause.ts';
import type { BatchHandler, Handlers } from './handlers.ts';
import { answerPruning, pruneInboxStep } from './inbox-pruning.ts';
import type { Logger } from './logger.ts';
import { RELAY_BATCH, relayStep } from './outbox.ts';
import { answerReconcilers, reconcileStep } from './reconcile.ts';
import { startWorker } from './worker.ts';

const RELAY_EVERY_MS = 100;
/** An event that is lost is missed after twenty seconds at the earliest: two looks that nobody answers, and it is there within sixty. */
const RECONCILE_EVERY_MS = 10_000;
const PRUNE_EVERY_MS = 3_600_000;

export type MessengerOptions<P = unknown> = {
  db: Db;
  bus: Bus;
  service: Service;
  logger: Logger;
  /** What this service does with the events it takes; none for one that takes none. */
  handlers?: Handlers<P> | BatchHandler<P> | undefined;
  /** What the handlers are given. */
  ports?: P;
  /** Called after each batch that was taken in. */
  committed?: () => void;
};

export type Messenger = {
  /** Something was written to the outbox: send it now instead of at the next look. */
  wake(): void;
  /** Takes nothing more in, then ends carrying. */
  stop(): Promise<void>;
};

/**
 * The three ways in which a service takes part in the talk: it carries its outbox to the bus, takes events in
 * from it, and compares notes with the others so that nothing stays lost.
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
      const carried = await thenRest(
        () => relayStep(db, bus, logger),
        (count) => count === 0 || count >= RELAY_BATCH,
      );
      // Whoever announces more kicks; a look to find nothing costs as much as one that finds something.
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
