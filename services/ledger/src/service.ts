import { randomUUID } from 'node:crypto';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { commandSubject, commands } from '@quittance/shared/commands';
import { startConsumer } from '@quittance/shared/consumer';
import { openDb } from '@quittance/shared/db';
import { listen } from '@quittance/shared/http';
import type { Running } from '@quittance/shared/lifecycle';
import { createLogger } from '@quittance/shared/logger';
import { answerReconcilers } from '@quittance/shared/reconcile';
import type { LedgerConfig } from './config.ts';
import { handleEvents } from './consumers.ts';
import { openHoldDesk } from './hold-desk.ts';
import { createHttp } from './http.ts';
import { placeHold } from './operations/place-hold.ts';
import type { Ports } from './ports.ts';
import { filePrices } from './price-file.ts';
import { publicPrices } from './price-public.ts';
import { databaseReady, readiness } from './readiness.ts';
import { decideHolds } from './store-holds.ts';
import { activateAssets } from './store-quotes.ts';
import { startWorkers } from './workers.ts';

export type LedgerService = Running & { ports: Ports; port: number };

export type LedgerOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

const DRAIN_MS = 8_000;

/**
 * Starts a ledger replica. HTTP answers at once, `/readyz` with 503 until everything it needs is there;
 * what is away is waited for.
 */
export async function startLedger(
  config: LedgerConfig,
  { workers: withWorkers = true, ...given }: LedgerOptions = {},
): Promise<LedgerService> {
  const logger = given.logger ?? createLogger('ledger', config.LOG_LEVEL);
  const clock = given.clock ?? systemClock;
  const db =
    given.db ?? openDb({ url: config.DATABASE_URL, schema: 'ledger', pool: config.DATABASE_POOL, logger });
  let connected: Bus | undefined;

  const app = createHttp({
    db,
    clock,
    logger,
    identitySecret: config.IDENTITY_SECRET,
    waitsFor: readiness(db, () => connected, logger),
  });
  const listening = await listen(app, config.HOST, config.PORT);
  logger.info({ port: listening.port }, 'the ledger listens');

  await databaseReady(db, logger);
  await activateAssets(db, config.ASSETS_ACTIVE);
  const bus = given.bus ?? (await connectBus({ url: config.NATS_URL, service: 'ledger', logger }));
  connected = bus;
  const ports: Ports = {
    db,
    bus,
    clock,
    logger,
    prices: given.prices ?? pricesOf(config, { clock, logger }),
    holds:
      given.holds ??
      openHoldDesk({
        decide: (payouts) => decideHolds(db, payouts),
        clock,
        patienceMs: commands['hold.place'].timeoutMs,
      }),
  };

  bus.answer(commandSubject('hold.place'), (body) =>
    placeHold(ports, commands['hold.place'].request.parse(body)),
  );
  answerReconcilers(bus, db, 'ledger');
  const workers = withWorkers
    ? startWorkers(ports, { quotesEveryMs: config.QUOTES_EVERY_MS, replica: randomUUID() })
    : undefined;
  const consumer = startConsumer({
    bus,
    db,
    service: 'ledger',
    handlers: handleEvents(logger),
    logger,
    committed: () => workers?.kickRelay(),
  });

  return {
    ports,
    port: listening.port,
    async stop() {
      await Promise.all([listening.close(DRAIN_MS), consumer.stop()]);
      await workers?.stop();
      await bus.close();
      await db.close();
    },
  };
}

function pricesOf({ PRICES, ASSETS_ACTIVE }: LedgerConfig, ports: Pick<Ports, 'clock' | 'logger'>) {
  switch (PRICES.from) {
    case 'file':
      return filePrices(PRICES.path, ports.clock, ports.logger);
    case 'public':
      return publicPrices({ assets: ASSETS_ACTIVE, ...ports });
  }
}
