import { openDb } from '@quittance/shared/db';
import { openMetricsDb } from '@quittance/shared/metrics';
import { type RunningService, startService } from '@quittance/shared/start-service';
import type { AuditorConfig } from './config.ts';
import { createHttp } from './http/books.ts';
import { auditorMetrics } from './metrics.ts';
import { readReconciliation } from './operations/read-reconciliation.ts';
import { type ChainMemory, emptyMemory, type Ports } from './ports.ts';
import { startWorkers } from './workers.ts';

export type AuditorService = RunningService<Ports>;

export type AuditorOptions = Partial<Ports> & {
  /** False in tests that step the worker themselves. */
  workers?: boolean;
};

const HOUR_MS = 3_600_000;

/** A whole check reads every row there is. */
const ANSWER_WITHIN_MS = 31 * 60_000;

/**
 * Starts an auditor replica, in the order that `startService` gives. It compares the records of all services with each other
 * and with the chains, and halts the payouts of an asset with a discrepancy. It changes no row of another service. While it
 * is down nothing is halted.
 */
export const startAuditor = (
  config: AuditorConfig,
  { workers = true, ...given }: AuditorOptions = {},
): Promise<AuditorService> =>
  startService({
    name: 'auditor',
    config,
    given,
    migrations: new URL('../migrations/', import.meta.url),
    open({ db, clock, logger, replica, wakeRelay }) {
      const url = config.DATABASE_URL.reveal();
      const began = config.SOLANA_BEGAN;
      // Checks come one after another.
      const slowDb = openDb({ url, schema: 'auditor', logger, pool: 1, answerWithinMs: ANSWER_WITHIN_MS });
      const memory = new Map(
        config.chains.map(({ chain }): [typeof chain, ChainMemory] => [chain, emptyMemory()]),
      );
      const ports: Ports = {
        db,
        slowDb,
        clock,
        logger,
        wakeRelay,
        chains: config.chains.map((settings) => ({
          settings,
          since: settings.chain === 'solana' && began !== undefined ? new Date(began) : undefined,
        })),
        memory,
        gatewayKeys: config.GATEWAY_PUBLIC_KEY,
        settings: {
          replica,
          checkEveryMs: config.CHECK_EVERY_MS,
          chainsEveryMs: config.CHAINS_EVERY_MS,
          wholeEveryMs: config.WHOLE_CHECK_EVERY_HOURS * HOUR_MS,
          chainDays: config.CHAIN_DAYS,
          gracePeriodSeconds: config.GRACE_PERIOD_SECONDS,
        },
        ...given,
      };
      const metrics = auditorMetrics({ db: openMetricsDb('auditor', url, logger), logger }, ports);
      return { ports, metrics, connections: [slowDb] };
    },
    http: createHttp,
    responders: { 'reconciliation.read': readReconciliation },
    workers: workers ? startWorkers : undefined,
  });
