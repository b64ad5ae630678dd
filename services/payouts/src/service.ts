import { randomBytes, randomUUID } from 'node:crypto';
import type { EvmSender } from '@quittance/chains/chain';
import { checkAddress } from '@quittance/chains/evm/address';
import { createEvmSender } from '@quittance/chains/evm/sender';
import { openWallet } from '@quittance/chains/evm/wallet';
import { connectRpc } from '@quittance/chains/json-rpc';
import { connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { listen } from '@quittance/shared/http';
import type { Running } from '@quittance/shared/lifecycle';
import { createLogger } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { watchQuotes } from '@quittance/shared/quotes';
import { databaseCheck, untilReady, waitsForEngines } from '@quittance/shared/readiness';
import type { PayoutsConfig } from './config.ts';
import { handlers } from './consumers.ts';
import { createHttp } from './http.ts';
import { createNotices } from './notices.ts';
import { payoutNumbers } from './payout-numbers.ts';
import type { Ports } from './ports.ts';
import { startWorkers } from './workers.ts';

export type PayoutsService = Running & { ports: Ports; port: number };

export type PayoutsOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

const MIGRATIONS = new URL('../migrations/', import.meta.url);
const DRAIN_MS = 8_000;
const QUOTE_AGE_MAX_MS = 60_000;
/** A process that died is followed after this long. */
const LEASE_MS = 5_000;
const PATIENCE = { resendAfterMs: 5_000, doubtForMs: 30_000 } as const;

/**
 * Starts a payouts replica. HTTP answers at once, `/readyz` with 503 until everything it needs is there; what is
 * away is waited for. Without a node payouts are taken all the same, and paid when it is back.
 */
export async function startPayouts(
  config: PayoutsConfig,
  { workers: withWorkers = true, ...given }: PayoutsOptions = {},
): Promise<PayoutsService> {
  const logger = given.logger ?? createLogger('payouts', config.LOG_LEVEL);
  const clock = given.clock ?? systemClock;
  const db =
    given.db ?? openDb({ url: config.DATABASE_URL, schema: 'payouts', pool: config.DATABASE_POOL, logger });
  const rpc = connectRpc(config.ETHEREUM_RPC_URL);
  const sender = given.sender ?? senderOf(config, rpc);

  const ports: Ports = {
    db,
    bus: { connected: () => false, ask: async () => ({ known: false, reason: 'the bus is not there yet' }) },
    clock,
    random: randomBytes,
    logger,
    notices: createNotices(logger, clock),
    quotes: { latest: () => undefined, fresh: () => undefined },
    numbers: payoutNumbers(db),
    sender,
    signingBar: { reason: undefined },
    settings: {
      identitySecret: config.IDENTITY_SECRET,
      publicUrl: config.PUBLIC_URL,
      replica: randomUUID(),
      leaseMs: LEASE_MS,
      patience: PATIENCE,
    },
    announced: () => {},
    ...given,
  };

  const check = databaseCheck(db, MIGRATIONS, logger);
  const waitsFor = async () => [
    ...(await waitsForEngines(check, ports.bus)),
    ...(ports.signingBar.reason === undefined
      ? []
      : [`the right wallet, network and database: ${ports.signingBar.reason}`]),
  ];
  const listening = await listen(createHttp(ports, waitsFor), config.HOST, config.PORT);
  logger.info({ port: listening.port, hot_wallet: sender.hotAddress }, 'payouts listens');

  await untilReady(check, logger);
  const bus = await connectBus({ url: config.NATS_URL, service: 'payouts', logger });
  ports.bus = given.bus ?? bus;
  const board = watchQuotes(bus, clock, logger, QUOTE_AGE_MAX_MS);
  ports.quotes = given.quotes ?? board;
  const messenger = startMessenger({ db, bus, service: 'payouts', logger, handlers });
  ports.announced = given.announced ?? messenger.kick;
  const workers = withWorkers ? startWorkers(ports, config.ENGINE_EVERY_MS) : undefined;

  return {
    ports,
    port: listening.port,
    async stop() {
      await listening.close(DRAIN_MS);
      await Promise.all([workers?.stop(), messenger.stop(), board.stop()]);
      await bus.close();
      await rpc.close();
      await db.close();
    },
  };
}

function senderOf(config: PayoutsConfig, rpc: ReturnType<typeof connectRpc>): EvmSender {
  return createEvmSender({
    rpc,
    wallet: openWallet(config.WALLET_SEED),
    chainId: config.ETHEREUM_CHAIN_ID,
    usdcAddress: checkAddress(config.ETHEREUM_USDC_ADDRESS),
  });
}
