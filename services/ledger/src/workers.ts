import { type Lease, releaseLease, takeLease } from '@quittance/shared/lease';
import { startWorker } from '@quittance/shared/worker';
import { catchUpReversals } from './operations/catch-up-reversals.ts';
import { refreshQuotes } from './operations/refresh-quotes.ts';
import type { Ports } from './ports.ts';

const REVERSALS_EVERY_MS = 5_000;
/** A publisher that died is replaced well before its quotes are too old to use. */
const QUOTES_LEASE_SPARE_MS = 5_000;

export type Workers = { stop(): Promise<void> };

export type WorkerSettings = { quotesEveryMs: number; replica: string };

export function startWorkers(ports: Ports, { quotesEveryMs, replica }: WorkerSettings): Workers {
  const { db, logger } = ports;
  let lease: Lease | undefined;

  const workers = [
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
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      if (lease !== undefined) await releaseLease(db, lease);
    },
  };
}
