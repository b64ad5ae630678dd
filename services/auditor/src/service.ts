import { randomUUID } from 'node:crypto';
import { SeenBalances } from '@quittance/reconciliation/seen-balances';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { listen } from '@quittance/shared/http';
import type { Running } from '@quittance/shared/lifecycle';
import { createLogger } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { openMetricsDb } from '@quittance/shared/metrics';
import { databaseCheck, untilReady, waitsForEngines } from '@quittance/shared/readiness';
import type { AuditorConfig } from './config.ts';
import { createHttp } from './http.ts';
import { auditorMetrics } from './metrics.ts';
import type { ChainMemory, Ports } from './ports.ts';
import { startWorkers } from './workers.ts';

export type AuditorService = Running & { ports: Ports; port: number };

export type AuditorOptions = Partial<Ports> & {
  bus?: Bus;
  /** False in tests that step the worker themselves. */
  workers?: boolean;
};

const MIGRATIONS = new URL('../migrations/', import.meta.url);
const DRAIN_MS = 8_000;
const HOUR_MS = 3_600_000;
/** A whole check reads every row there is. */
const ANSWER_WITHIN_MS = 31 * 60_000;

/**
 * Starts an auditor replica: it compares what all services have written down, and with the chains, and halts the payouts
 * of an asset whose books are wrong. It changes nothing of theirs. While it is down nothing is halted.
 */
export async function startAuditor(
  config: AuditorConfig,
  { workers: withWorkers = true, bus: givenBus, ...given }: AuditorOptions = {},
): Promise<AuditorService> {
  const logger = given.logger ?? createLogger('auditor', config.LOG_LEVEL);
  const clock = given.clock ?? systemClock;
  const database = { url: config.DATABASE_URL.reveal(), schema: 'auditor', logger };
  const db = given.db ?? openDb({ ...database, pool: config.DATABASE_POOL });
  // Checks come one after another.
  const slowDb = openDb({ ...database, pool: 1, answerWithinMs: ANSWER_WITHIN_MS });
  const check = databaseCheck(db, MIGRATIONS, logger);
  let connected: Bus | undefined;

  const memory =
    given.memory ??
    new Map(
      config.chains.map(({ chain }): [typeof chain, ChainMemory] => [
        chain,
        { balances: new SeenBalances(), lookedAt: undefined, unseen: undefined },
      ]),
    );
  const metrics = auditorMetrics(
    { db: openMetricsDb('auditor', config.DATABASE_URL.reveal(), logger), logger },
    { memory, clock, chainsEveryMs: config.CHAINS_EVERY_MS },
  );
  const app = createHttp({
    db,
    clock,
    logger,
    metrics,
    waitsFor: () => waitsForEngines(check, connected),
  });
  const listening = await listen(app, config.HOST, config.PORT);
  logger.info({ port: listening.port }, 'the auditor listens');

  await untilReady(check, logger);
  const bus = givenBus ?? (await connectBus({ url: config.NATS_URL.reveal(), service: 'auditor', logger }));
  connected = bus;
  const messenger = startMessenger({ db, bus, service: 'auditor', logger });
  const ports: Ports = {
    db,
    slowDb,
    clock,
    logger,
    chains: config.chains.map((settings) => ({
      settings,
      since:
        settings.chain === 'solana' && config.SOLANA_BEGAN !== undefined
          ? new Date(config.SOLANA_BEGAN)
          : undefined,
    })),
    memory,
    settings: {
      replica: randomUUID(),
      checkEveryMs: config.CHECK_EVERY_MS,
      chainsEveryMs: config.CHAINS_EVERY_MS,
      wholeEveryMs: config.WHOLE_CHECK_EVERY_HOURS * HOUR_MS,
      chainDays: config.CHAIN_DAYS,
      patienceSeconds: config.PATIENCE_SECONDS,
    },
    announced: messenger.kick,
    ...given,
  };
  const workers = withWorkers ? startWorkers(ports) : undefined;

  return {
    ports,
    port: listening.port,
    async stop() {
      await listening.close(DRAIN_MS);
      await Promise.all([workers?.stop(), messenger.stop()]);
      await bus.close();
      await Promise.all([db.close(), slowDb.close(), metrics.close()]);
    },
  };
}
