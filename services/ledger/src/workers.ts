import { type Lease, releaseLease, takeLease } from '@quittance/shared/lease';
import { relayStep } from '@quittance/shared/outbox';
import { reconcileStep } from '@quittance/shared/reconcile';
import { startWorker, type Worker } from '@quittance/shared/worker';
import { catchUpReversals } from './operations/catch-up-reversals.ts';
import { refreshQuotes } from './operations/refresh-quotes.ts';
import type { Ports } from './ports.ts';

const RELAY_EVERY_MS = 100;
const RECONCILE_EVERY_MS = 20_000;
const REVERSALS_EVERY_MS = 5_000;
/** A publisher that died is replaced well before its quotes are too old to use. */
const QUOTES_LEASE_SPARE_MS = 5_000;

export type Workers = {
  /** There are events to carry. */
  kickRelay(): void;
  stop(): Promise<void>;
};

export type WorkerSettings = { quotesEveryMs: number; replica: string };

export function startWorkers(ports: Ports, { quotesEveryMs, replica }: WorkerSettings): Workers {
  const { db, bus, logger } = ports;
  let lease: Lease | undefined;

  const relay = startWorker({
    name: 'relay',
    everyMs: RELAY_EVERY_MS,
    step: () => relayStep(db, bus),
    logger,
  });
  const others: Worker[] = [
    startWorker({
      name: 'reconciler',
      everyMs: RECONCILE_EVERY_MS,
      step: () => reconcileStep(db, bus, logger),
      logger,
    }),
    startWorker({
      name: 'reversals',
      everyMs: REVERSALS_EVERY_MS,
      step: () => catchUpReversals(ports),
      logger,
    }),
    startWorker({
      name: 'quotes',
      everyMs: quotesEveryMs,
      // One replica asks the sources for all; answers 0, so that a success is followed by the pause.
      async step() {
        lease = await takeLease(db, 'quotes', replica, 2 * quotesEveryMs + QUOTES_LEASE_SPARE_MS);
        if (lease !== undefined) await refreshQuotes(ports, lease);
        return 0;
      },
      logger,
    }),
  ];

  return {
    kickRelay: () => relay.kick(),
    async stop() {
      await Promise.all([relay, ...others].map((worker) => worker.stop()));
      if (lease !== undefined) await releaseLease(db, lease);
    },
  };
}
