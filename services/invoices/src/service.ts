import { randomBytes, randomUUID } from 'node:crypto';
import { depositAddresses, paymentUri, showAddress } from '@quittance/chains/evm/address';
import { createEvmReader } from '@quittance/chains/evm/reader';
import { connectRpc, type Rpc } from '@quittance/chains/json-rpc';
import type { Chain } from '@quittance/shared/assets';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import { gather } from '@quittance/shared/gather';
import { listen } from '@quittance/shared/http';
import type { InvoiceId } from '@quittance/shared/ids';
import type { Running } from '@quittance/shared/lifecycle';
import { createLogger, type Logger } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { watchQuotes } from '@quittance/shared/quotes';
import { databaseCheck, untilReady, waitsForEngines } from '@quittance/shared/readiness';
import { createAddressPool } from './address-pool.ts';
import type { InvoicesConfig } from './config.ts';
import { handleEvents } from './consumers.ts';
import { createHttp } from './http.ts';
import type { Ports, WatchedChain } from './ports.ts';
import { findInvoices, type NewInvoice, nextAddressBlock, saveNewInvoices } from './store.ts';
import { startWorkers } from './workers.ts';

export type InvoicesService = Running & {
  ports: Ports;
  port: number;
  /** Names this replica where only one may do a thing. */
  replica: string;
};

export type InvoicesOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

const MIGRATIONS = new URL('../migrations/', import.meta.url);
const DRAIN_MS = 8_000;
const QUOTE_AGE_MAX_MS = 60_000;
/** Under load so many go into one statement, and so many statements are under way. */
const GATHERED_MAX = 64;
const GATHERED_AT_ONCE = 2;

/**
 * Starts an invoices replica. HTTP answers at once, `/readyz` with 503 until everything it needs is there; what
 * is away is waited for. Without a chain node invoices are made and shown all the same, and payments found
 * when it is back.
 */
export async function startInvoices(
  config: InvoicesConfig,
  { workers: withWorkers = true, ...given }: InvoicesOptions = {},
): Promise<InvoicesService> {
  const logger = given.logger ?? createLogger('invoices', config.LOG_LEVEL);
  const clock = given.clock ?? systemClock;
  const db =
    given.db ?? openDb({ url: config.DATABASE_URL, schema: 'invoices', pool: config.DATABASE_POOL, logger });
  const rpc = connectRpc(config.ETHEREUM_RPC_URL);
  const chains =
    given.chains ?? new Map<Chain, WatchedChain>([['ethereum', ethereum(config, rpc, db, logger)]]);
  // Until the bus is there, no rate is fresh and no invoice is made; what there is can be read.
  const ports: HttpReady = {
    db,
    clock,
    random: randomBytes,
    logger,
    quotes: { latest: () => undefined, fresh: () => undefined },
    chains,
    publicUrl: config.PUBLIC_URL,
    ...together(db),
    ...given,
  };
  let kick: () => void = () => undefined;
  const announced = () => kick();

  const check = databaseCheck(db, MIGRATIONS, logger);
  const app = createHttp(ports, {
    identitySecret: config.IDENTITY_SECRET,
    waitsFor: () => waitsForEngines(check, ports.bus),
    announced,
  });
  const listening = await listen(app, config.HOST, config.PORT);
  logger.info({ port: listening.port }, 'invoices listens');

  await untilReady(check, logger);
  for (const { addresses } of chains.values()) void addresses.fill();
  const bus = given.bus ?? (await connectBus({ url: config.NATS_URL, service: 'invoices', logger }));
  const board = watchQuotes(bus, clock, logger, QUOTE_AGE_MAX_MS);
  const all: Ports = Object.assign(ports, { bus, quotes: given.quotes ?? board });
  const messenger = startMessenger({
    db,
    bus,
    service: 'invoices',
    logger,
    handlers: handleEvents(all),
  });
  kick = messenger.kick;
  const replica = randomUUID();
  const workers = withWorkers
    ? startWorkers(all, { scanEveryMs: config.SCAN_EVERY_MS, replica, announced })
    : undefined;

  return {
    ports: all,
    port: listening.port,
    replica,
    async stop() {
      await Promise.all([listening.close(DRAIN_MS), workers?.stop(), messenger.stop(), board.stop()]);
      await bus.close();
      await rpc.close();
      await db.close();
    },
  };
}

/** What many ask for at the same moment is one statement. */
function together(db: Db): Pick<Ports, 'saveInvoice' | 'findInvoice'> {
  return {
    saveInvoice: gather({
      run: async (made: readonly NewInvoice[]) => {
        await saveNewInvoices(db, made);
        return made.map(() => undefined);
      },
      max: GATHERED_MAX,
      atOnce: GATHERED_AT_ONCE,
    }),
    findInvoice: gather({
      run: (ids: readonly InvoiceId[]) => findInvoices(db, ids),
      max: GATHERED_MAX,
      atOnce: GATHERED_AT_ONCE,
    }),
  };
}

type HttpReady = Omit<Ports, 'bus'> & { bus?: Bus };

function ethereum(config: InvoicesConfig, rpc: Rpc, db: Db, logger: Logger): WatchedChain {
  const network = {
    chain: 'ethereum' as const,
    chainId: config.ETHEREUM_CHAIN_ID,
    usdcAddress: config.ETHEREUM_USDC_ADDRESS,
  };
  const { range } = depositAddresses(config.ETHEREUM_XPUB);
  const addresses = createAddressPool({
    range,
    nextBlock: () => nextAddressBlock(db, 'ethereum'),
    ahead: config.ADDRESSES_AHEAD,
    logger,
  });
  return {
    chain: 'ethereum',
    reader: createEvmReader({ ...network, rpc }),
    addresses,
    startHeight: config.ETHEREUM_START_HEIGHT,
    quietMs: config.ETHEREUM_QUIET_MS,
    show: showAddress,
    uri: (asset, address, amount) => paymentUri(network, asset, address, amount),
  };
}
