import { randomBytes, randomUUID } from 'node:crypto';
import { networkCheck, refuseWrongNetworks } from '@quittance/chains/network-check';
import { checkAddress, connectSender } from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets } from '@quittance/chains/settings';
import type { Chain } from '@quittance/shared/assets';
import { connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { commandSubject, commands } from '@quittance/shared/commands';
import { openDb } from '@quittance/shared/db';
import { publishFeeEstimates } from '@quittance/shared/fee-estimates';
import { listen } from '@quittance/shared/http';
import type { Running } from '@quittance/shared/lifecycle';
import { createLogger, type Logger } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { watchQuotes } from '@quittance/shared/quotes';
import { databaseCheck, untilReady, waitsForEngines } from '@quittance/shared/readiness';
import type { Secret } from '@quittance/shared/secret';
import { throttledLog } from '@quittance/shared/throttled-log';
import type { PayoutsConfig } from './config.ts';
import { handlers } from './handlers.ts';
import { createHttp } from './http/app.ts';
import { payoutsMetrics } from './metrics.ts';
import { deriveAddresses } from './operations/derive-addresses.ts';
import { pausedChains, refuseSeedMismatch } from './operations/signing-pause.ts';
import { stalledNames } from './operations/watch-stalled.ts';
import type { PayoutChain, Ports } from './ports.ts';
import type { Stalled } from './store/payouts.ts';
import { startWorkers } from './workers.ts';

export type PayoutsService = Running & { ports: Ports; port: number };

export type PayoutsOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

const MIGRATIONS = new URL('../migrations/', import.meta.url);
const DRAIN_MS = 8_000;
const QUOTE_AGE_MAX_MS = 60_000;
const GRACE_PERIODS = { resendAfterMs: 5_000, doubtForMs: 30_000, stuckAfterMs: 3 * 60_000 } as const;

/**
 * Starts a payouts replica. HTTP answers at once, `/readyz` with 503 until everything it needs is there; what is
 * away is waited for. Without a chain's node its payouts are taken all the same, and paid when it is back.
 */
export async function startPayouts(
  config: PayoutsConfig,
  { workers: withWorkers = true, ...given }: PayoutsOptions = {},
): Promise<PayoutsService> {
  const logger = given.logger ?? createLogger('payouts', config.LOG_LEVEL);
  const clock = given.clock ?? systemClock;
  const db =
    given.db ??
    openDb({ url: config.DATABASE_URL.reveal(), schema: 'payouts', pool: config.DATABASE_POOL, logger });
  const chains = given.chains ?? connectChains(config, logger);

  const ports: Ports = {
    db,
    bus: { connected: () => false, ask: async () => ({ known: false, reason: 'the bus is not there yet' }) },
    clock,
    random: randomBytes,
    logger,
    throttledLog: throttledLog(logger, () => clock.now().getTime()),
    quotes: { latest: () => undefined, fresh: () => undefined },
    chains,
    settings: {
      identitySecret: config.IDENTITY_SECRET,
      publicUrl: config.PUBLIC_URL,
      replica: randomUUID(),
      leaseMs: config.LEASE_MS,
      gracePeriods: GRACE_PERIODS,
    },
    announced: () => {},
    ...given,
  };

  const check = databaseCheck(db, MIGRATIONS, logger);
  const waitsFor = async () => [
    ...(await waitsForEngines(check, ports.bus)),
    ...pausedChains(chains.values()).waitsFor,
  ];
  const stalled = new Map<Chain, Stalled>();
  const without = () => [...pausedChains(chains.values()).without, ...stalledNames(stalled)];
  const metrics = payoutsMetrics(config.DATABASE_URL.reveal(), logger, chains);
  const disconnect = async () => {
    await Promise.all([...chains.values()].map(({ sender }) => sender.close()));
    await Promise.all([db.close(), metrics.close()]);
  };
  const networks = new Map([...chains].map(([chain, { sender }]) => [chain, networkCheck(sender)]));
  await refuseWrongNetworks('payouts', networks, logger).catch(async (error: unknown) => {
    await disconnect();
    throw error;
  });
  const listening = await listen(createHttp(ports, { waitsFor, without, metrics }), config.HOST, config.PORT);
  const hotWallets = Object.fromEntries([...chains].map(([chain, { sender }]) => [chain, sender.hotAddress]));
  logger.info({ port: listening.port, hot_wallets: hotWallets }, 'payouts listens');

  await untilReady(check, logger);
  await refuseSeedMismatch(ports).catch(async (error: unknown) => {
    await listening.close(DRAIN_MS);
    await disconnect();
    throw error;
  });
  const bus = await connectBus({ url: config.NATS_URL.reveal(), service: 'payouts', logger });
  ports.bus = given.bus ?? bus;
  bus.answer(commandSubject('addresses.derive'), (body) =>
    deriveAddresses(ports, commands['addresses.derive'].request.parse(body)),
  );
  const board = watchQuotes(bus, clock, logger, QUOTE_AGE_MAX_MS);
  ports.quotes = given.quotes ?? board;
  const messenger = startMessenger({ db, bus, service: 'payouts', logger, handlers });
  ports.announced = given.announced ?? messenger.wake;
  const workers = withWorkers
    ? startWorkers(ports, config.ENGINE_EVERY_MS, (estimates) => publishFeeEstimates(bus, estimates), stalled)
    : undefined;

  return {
    ports,
    port: listening.port,
    async stop() {
      await listening.close(DRAIN_MS);
      await Promise.all([workers?.stop(), messenger.stop(), board.stop()]);
      await bus.close();
      await disconnect();
    },
  };
}

function connectChains(config: PayoutsConfig, logger: Logger): Map<Chain, PayoutChain> {
  return new Map(
    config.chains.map((settings) => [settings.chain, connectChain(settings, config.WALLET_SEED, logger)]),
  );
}

function connectChain(settings: ChainSettings, seed: Secret, logger: Logger): PayoutChain {
  const ofAnyKind = {
    assets: configuredAssets(settings),
    signingPause: { reason: undefined },
    checkAddress: (text: string) => checkAddress(settings, text),
  };
  switch (settings.kind) {
    case 'bitcoin':
      return {
        ...ofAnyKind,
        kind: settings.kind,
        chain: settings.chain,
        sender: connectSender<'bitcoin'>(settings, seed.reveal(), { logger }),
      };
    case 'evm':
      return {
        ...ofAnyKind,
        kind: settings.kind,
        chain: settings.chain,
        sender: connectSender<'evm'>(settings, seed.reveal(), { logger }),
      };
    case 'solana':
      return {
        ...ofAnyKind,
        kind: settings.kind,
        chain: settings.chain,
        sender: connectSender<'solana'>(settings, seed.reveal(), { logger }),
      };
  }
}
