import { type Lease, releaseLease, takeLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { startWorker } from '@quittance/shared/worker';
import { checkBalances } from './operations/check-balances.ts';
import { expireInvoices } from './operations/expire-invoices.ts';
import { forgetOldAnswers } from './operations/forget-old-answers.ts';
import { scanChain } from './operations/scan-chain.ts';
import type { Ports, WatchedChain } from './ports.ts';

/** A scanner that died is followed after this long. */
const SCANNER_LEASE_MS = 5_000;
const FORGET_EVERY_MS = 3_600_000;

export type WorkerSettings = {
  scanEveryMs: number;
  /** Names this process among the replicas. */
  replica: string;
  /** Called when something may have been announced. */
  announced: () => void;
};

/** One replica follows a chain at a time; each step renews its right to. */
export function createScanner(
  ports: Ports,
  watched: WatchedChain,
  { replica, announced }: Omit<WorkerSettings, 'scanEveryMs'>,
): { step(): Promise<number>; leave(): Promise<void> } {
  const { db } = ports;
  let lease: Lease | undefined;
  let isRightNetwork = false;
  return {
    /** Follows the chain; at its head, looks for money that came without a trace. */
    async step() {
      lease = await takeLease(db, `scanner.${watched.chain}`, replica, SCANNER_LEASE_MS);
      if (lease === undefined) return 0;
      // Nothing is read from a node before it is known to be on the right network.
      if (!isRightNetwork) await watched.reader.check();
      isRightNetwork = true;
      const blocks = await scanChain(ports, watched, lease);
      const looked = blocks === 0 ? await checkBalances(ports, watched, lease) : 0;
      if (blocks + looked > 0) announced();
      return blocks + looked;
    },
    async leave() {
      if (lease !== undefined) await releaseLease(db, lease);
    },
  };
}

/** Starts what this service does unasked: following chains, expiring invoices, forgetting old answers. */
export function startWorkers(ports: Ports, settings: WorkerSettings): { stop(): Promise<void> } {
  const { logger } = ports;
  const scanners = [...ports.chains.values()].map((watched) => createScanner(ports, watched, settings));
  const workers = [
    ...scanners.map((scanner, i) =>
      startWorker({
        name: `scanner ${[...ports.chains.keys()][i]}`,
        everyMs: settings.scanEveryMs,
        step: scanner.step,
        logger,
      }),
    ),
    ...[...ports.chains.values()].map((watched) =>
      startWorker({
        name: `expiry ${watched.chain}`,
        everyMs: settings.scanEveryMs,
        async step() {
          const expired = await expireInvoices(ports, watched);
          if (expired > 0) settings.announced();
          return expired;
        },
        logger,
      }),
    ),
    startWorker({
      name: 'old answers',
      everyMs: FORGET_EVERY_MS,
      step: () => forgetOldAnswers(ports),
      logger,
    }),
  ];
  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      for (const scanner of scanners) {
        await scanner.leave().catch((error: unknown) => {
          logger.warn(
            { reason: reason(error) },
            'the scanner could not be handed over, its lease will run out',
          );
        });
      }
    },
  };
}
