import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { listen } from '@quittance/shared/http';
import type { Running } from '@quittance/shared/lifecycle';
import { createLogger, reason } from '@quittance/shared/logger';
import { databaseCheck, untilReady } from '@quittance/shared/readiness';
import { openCallers } from './callers.ts';
import type { GatewayConfig } from './config.ts';
import { countConnections } from './connections.ts';
import { createGatewayApp, createMetricsApp } from './http.ts';
import { openLimits } from './limits.ts';
import { gatewayMetrics } from './metrics.ts';
import { writeTokenUses } from './operations/write-token-uses.ts';
import type { Ports } from './ports.ts';
import { proxiesInFront } from './proxies-in-front.ts';
import { createProxy } from './proxy.ts';
import { recentlySeen } from './recently-seen.ts';
import { watchStreamTokens } from './stream-tokens.ts';
import { createTokenUses } from './token-uses.ts';
import { startWorkers } from './workers.ts';

export type GatewayService = Running & { ports: Ports; port: number };

export type GatewayOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

const DRAIN_MS = 8_000;
/** Of each about 10 MB. */
const SEEN_MAX = 50_000;

/**
 * Starts a gateway replica. What is away is waited for, and requests that need it are answered 503 until then. Throws
 * StartRefused when the database is newer than this code; where that shows only later, `ready` rejects with it.
 */
export async function startGateway(
  config: GatewayConfig,
  { workers = true, ...given }: GatewayOptions = {},
): Promise<GatewayService> {
  const logger = given.logger ?? createLogger('gateway', config.LOG_LEVEL);
  const db =
    given.db ??
    openDb({ url: config.DATABASE_URL.reveal(), schema: 'gateway', pool: config.DATABASE_POOL, logger });
  const metrics = gatewayMetrics(logger);
  const ports: Ports = {
    config,
    logger,
    clock: systemClock,
    db,
    callers: openCallers(db),
    limits: openLimits(config, logger, metrics.refused),
    tokenUses: createTokenUses(),
    tokensSeen: recentlySeen(SEEN_MAX),
    invoicesSeen: recentlySeen(SEEN_MAX),
    ...given,
  };
  metrics.watch(ports.limits);
  const proxy = createProxy(
    {
      invoices: config.INVOICES_URL,
      payouts: config.PAYOUTS_URL,
      ledger: config.LEDGER_URL,
      webhooks: config.WEBHOOKS_URL,
    },
    logger,
  );
  const database = databaseCheck(db, new URL('../migrations/', import.meta.url), logger);
  const waitsFor = async () => {
    // Not for Redis: without it limits are counted here.
    const lack = await database.lacks();
    return lack === undefined ? [] : [lack];
  };
  const inFront = proxiesInFront(config.TRUSTED_PROXIES, logger);
  const app = createGatewayApp({ ...ports, proxy, inFront, waitsFor, metrics });
  const disconnect = async () => {
    proxy.close();
    ports.limits.close();
    await ports.db.close();
  };
  await database.lacks();
  const unfit = database.refusal();
  if (unfit !== undefined) {
    await disconnect();
    throw unfit;
  }
  const told =
    config.METRICS_PORT === undefined
      ? undefined
      : await listen(
          createMetricsApp({ ...ports, inFront, waitsFor, metrics }),
          config.HOST,
          config.METRICS_PORT,
        );
  const takes = countConnections({
    max: config.CONNECTIONS_PER_CLIENT,
    isTrusted: inFront.isTrusted,
    refused(peer, isFirst) {
      metrics.refused('connection');
      if (isFirst)
        logger.warn(
          { address: peer },
          'a client has CONNECTIONS_PER_CLIENT connections open, and gets no more: if it is a proxy of yours, name it in TRUSTED_PROXIES',
        );
    },
  });
  const listening = await listen(app, config.HOST, config.PORT, { readMs: config.READ_TIMEOUT_MS, takes });
  const running = [...(workers ? startWorkers(ports) : []), watchStreamTokens(ports, proxy.streams)];
  logger.info({ port: listening.port }, 'the gateway listens');
  const stopping = new AbortController();

  return {
    ready: untilReady(database, logger, stopping.signal),
    ports,
    port: listening.port,
    async stop() {
      stopping.abort();
      proxy.streams.end();
      await listening.close(DRAIN_MS);
      await Promise.all(running.map((worker) => worker.stop()));
      if (workers) await writeLastUses(ports);
      await told?.close(0);
      await disconnect();
    },
  };
}

async function writeLastUses(ports: Ports): Promise<void> {
  try {
    await writeTokenUses(ports);
  } catch (error) {
    ports.logger.warn({ reason: reason(error) }, 'when tokens were last used could not be written');
  }
}
