import { randomUUID } from 'node:crypto';
import { assets as factsOf, nativeAsset } from '@quittance/shared/assets';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { commandSubject, commands } from '@quittance/shared/commands';
import { openDb } from '@quittance/shared/db';
import { watchFeeEstimates } from '@quittance/shared/fee-estimates';
import { listen } from '@quittance/shared/http';
import type { Running } from '@quittance/shared/lifecycle';
import { createLogger, reason } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { databaseCheck, untilReady, waitsForEngines } from '@quittance/shared/readiness';
import type { LedgerConfig } from './config.ts';
import { handleEvents } from './consumers.ts';
import { openHoldDesk } from './hold-desk.ts';
import { createHttp } from './http.ts';
import { ledgerMetrics } from './metrics.ts';
import { agreeOnAssets } from './operations/agree-on-assets.ts';
import { decideAllHolds } from './operations/decide-holds.ts';
import { placeHold } from './operations/place-hold.ts';
import type { Ports } from './ports.ts';
import { filePrices } from './price-file.ts';
import { publicPrices } from './price-public.ts';
import { forgetReplica } from './store-asset-settings.ts';
import { assetsWithoutRate } from './store-quotes.ts';
import { startWorkers } from './workers.ts';

export type LedgerService = Running & { ports: Ports; port: number };

export type LedgerOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

const MIGRATIONS = new URL('../migrations/', import.meta.url);
/**
 * A statement is planned once a connection, perhaps while its tables are still empty and reading all of them
 * is the shortest way: it would stay so while they grow, until Postgres next counts them. Compiling a plan
 * takes longer than any of ours runs.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };
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
    given.db ??
    openDb({
      url: config.DATABASE_URL.reveal(),
      schema: 'ledger',
      pool: config.DATABASE_POOL,
      logger,
      settings: PLANNING,
    });
  const check = databaseCheck(db, MIGRATIONS, logger);
  let connected: Bus | undefined;

  const metrics = ledgerMetrics(config.DATABASE_URL.reveal(), logger);
  const app = createHttp({
    db,
    clock,
    logger,
    metrics,
    identitySecret: config.IDENTITY_SECRET,
    publicUrl: config.PUBLIC_URL,
    waitsFor: async () => {
      const waiting = await waitsForEngines(check, connected);
      if (waiting.length > 0) return waiting;
      return (await assetsWithoutRate(db)).map((symbol) => `a first rate of ${symbol}`);
    },
  });
  const listening = await listen(app, config.HOST, config.PORT);
  logger.info({ port: listening.port }, 'the ledger listens');

  await untilReady(check, logger);
  const replica = randomUUID();
  const assetSettings = { active: config.ASSETS_ACTIVE, minConfirmations: config.MIN_CONFIRMATIONS };
  const agreement = await agreeOnAssets({ db }, replica, assetSettings, true);
  const bus = given.bus ?? (await connectBus({ url: config.NATS_URL.reveal(), service: 'ledger', logger }));
  connected = bus;
  const fees = watchFeeEstimates(bus, clock, logger);
  const ports: Ports = {
    db,
    bus,
    clock,
    logger,
    prices: given.prices ?? pricesOf(config, { clock, logger }),
    fees: given.fees ?? fees,
    holds:
      given.holds ??
      openHoldDesk({
        decide: (payouts) => decideAllHolds(db, payouts),
        clock,
        patienceMs: commands['hold.place'].timeoutMs,
      }),
  };

  bus.answer(commandSubject('hold.place'), async (body) => {
    const request = commands['hold.place'].request.parse(body);
    const reply = await placeHold(ports, request);
    const { request_id, payout_id: payout } = request;
    logger.debug({ request_id, payout, outcome: reply.outcome }, 'decided a hold');
    return reply;
  });
  const messenger = startMessenger({ db, bus, service: 'ledger', logger, handlers: handleEvents(logger) });
  const workers = withWorkers
    ? startWorkers(ports, { quotesEveryMs: config.QUOTES_EVERY_MS, replica, assetSettings, agreement })
    : undefined;

  return {
    ports,
    port: listening.port,
    async stop() {
      await listening.close(DRAIN_MS);
      await Promise.all([workers?.stop(), messenger.stop(), fees.stop()]);
      await forgetReplica(db, replica).catch((error: unknown) =>
        logger.warn({ reason: reason(error) }, 'the settings of this replica count for some 20 seconds more'),
      );
      await bus.close();
      await Promise.all([db.close(), metrics.close()]);
    },
  };
}

function pricesOf({ PRICES, ASSETS_ACTIVE }: LedgerConfig, ports: Pick<Ports, 'clock' | 'logger'>) {
  // A token's network fee is a cost in its chain's native asset: it takes both rates to know it.
  const assets = [...new Set(ASSETS_ACTIVE.flatMap((asset) => [asset, nativeAsset[factsOf[asset].chain]]))];
  switch (PRICES.from) {
    case 'file':
      return filePrices({ path: PRICES.path, assets, ...ports });
    case 'public':
      return publicPrices({ assets, ...ports });
  }
}
