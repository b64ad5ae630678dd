import { randomBytes } from 'node:crypto';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { listen } from '@quittance/shared/http';
import type { Running } from '@quittance/shared/lifecycle';
import { createLogger } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { databaseCheck, untilReady, waitsForEngines } from '@quittance/shared/readiness';
import type { WebhooksConfig } from './config.ts';
import { createSecretEncryption } from './endpoint-secrets.ts';
import { createEventStreams } from './event-streams.ts';
import { handleEvents } from './handlers.ts';
import { createHttp } from './http/app.ts';
import { webhooksMetrics } from './metrics.ts';
import type { Ports } from './ports.ts';
import { createWebhookSender } from './webhook-sender.ts';
import { startWorkers } from './workers.ts';

export type WebhooksService = Running & { ports: Ports; port: number };

export type WebhooksOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

const MIGRATIONS = new URL('../migrations/', import.meta.url);
const DRAIN_MS = 8_000;

/**
 * Starts a webhooks replica. HTTP answers at once, `/readyz` with 503 until everything it needs is there;
 * what is away is waited for.
 */
export async function startWebhooks(
  config: WebhooksConfig,
  { workers: withWorkers = true, ...given }: WebhooksOptions = {},
): Promise<WebhooksService> {
  const logger = given.logger ?? createLogger('webhooks', config.LOG_LEVEL);
  const db =
    given.db ??
    openDb({ url: config.DATABASE_URL.reveal(), schema: 'webhooks', pool: config.DATABASE_POOL, logger });
  const random = given.random ?? randomBytes;
  const allowInsecureEndpoints = given.allowInsecureEndpoints ?? config.ALLOW_INSECURE_ENDPOINTS;
  const metrics = webhooksMetrics(config.DATABASE_URL.reveal(), logger);
  const withoutBus: Omit<Ports, 'bus'> = {
    db,
    clock: systemClock,
    random,
    logger,
    encryption: createSecretEncryption(config.WEBHOOK_SECRETS_KEY.reveal(), random),
    sender: given.sender ?? createWebhookSender({ publicOnly: !allowInsecureEndpoints }),
    streams: given.streams ?? createEventStreams({ db, logger }),
    publicUrl: config.PUBLIC_URL,
    allowInsecureEndpoints,
    attempted: metrics.attempted,
    ...given,
  };

  let connected: Bus | undefined;
  const check = databaseCheck(db, MIGRATIONS, logger);
  const app = createHttp({
    ...withoutBus,
    metrics,
    identitySecret: config.IDENTITY_SECRET,
    waitsFor: () => waitsForEngines(check, connected),
  });
  const listening = await listen(app, config.HOST, config.PORT);
  logger.info({ port: listening.port }, 'webhooks listens');
  if (allowInsecureEndpoints) logger.warn('endpoints may be http and private: for a sandbox only');

  await untilReady(check, logger);
  const bus = given.bus ?? (await connectBus({ url: config.NATS_URL.reveal(), service: 'webhooks', logger }));
  connected = bus;
  const ports: Ports = { ...withoutBus, bus };

  const workers = withWorkers ? startWorkers(ports) : undefined;
  const messenger = startMessenger({
    db,
    bus,
    service: 'webhooks',
    logger,
    handlers: handleEvents(ports),
    committed: () => {
      workers?.wake();
      ports.streams.wake();
    },
  });

  return {
    ports,
    port: listening.port,
    async stop() {
      // Streams end by nobody else's doing: the others have all of the time there is.
      const ended = ports.streams.close();
      await Promise.all([ended, listening.close(DRAIN_MS), messenger.stop(), workers?.stop()]);
      await ports.sender.close();
      await bus.close();
      await Promise.all([db.close(), metrics.close()]);
    },
  };
}
