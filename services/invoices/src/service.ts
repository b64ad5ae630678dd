import { randomUUID } from 'node:crypto';
import { refuseWrongNetworks } from '@quittance/chains/network-check';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import { gather } from '@quittance/shared/gather';
import { listen } from '@quittance/shared/http';
import { type InvoiceId, pooledBytes } from '@quittance/shared/ids';
import type { Running } from '@quittance/shared/lifecycle';
import { createLogger, reason } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { watchQuotes } from '@quittance/shared/quotes';
import { databaseCheck, untilReady, waitsForEngines } from '@quittance/shared/readiness';
import type { InvoicesConfig } from './config.ts';
import { handleEvents } from './consumers.ts';
import { createHttp } from './http.ts';
import { invoicesMetrics } from './metrics.ts';
import { compareKeys, recallKeys } from './operations/compare-keys.ts';
import type { Ports } from './ports.ts';
import { findInvoices, type NewInvoice, saveNewInvoices } from './store.ts';
import { openContradictions } from './store-contradictions.ts';
import { watchChains } from './watch-chains.ts';
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
 * is away is waited for. Throws ConfigError when a chain's node is on another network than the configured one; without
 * a node invoices are made and shown all the same, and payments found
 * when it is back.
 */
export async function startInvoices(
  config: InvoicesConfig,
  { workers: withWorkers = true, ...given }: InvoicesOptions = {},
): Promise<InvoicesService> {
  const logger = given.logger ?? createLogger('invoices', config.LOG_LEVEL);
  const clock = given.clock ?? systemClock;
  const db =
    given.db ??
    openDb({ url: config.DATABASE_URL.reveal(), schema: 'invoices', pool: config.DATABASE_POOL, logger });
  const { ADDRESSES_AHEAD: ahead, SCAN_EVERY_MS: scanEveryMs, LEASE_MS: leaseMs } = config;
  const chains = given.chains ?? watchChains(config.chains, { db, logger, ahead, scanEveryMs });
  if (chains.size === 0) logger.warn('no chain is configured, and no invoice can be made');
  const networks = new Map([...chains].map(([chain, { network }]) => [chain, network]));
  // Until the bus is there, no rate is fresh and no invoice is made; what there is can be read.
  const ports: HttpReady = {
    db,
    clock,
    random: pooledBytes,
    logger,
    quotes: { latest: () => undefined, fresh: () => undefined },
    chains,
    publicUrl: config.PUBLIC_URL,
    toleranceBps: config.TOLERANCE_BPS,
    ...together(db),
    ...given,
  };
  let kick: () => void = () => undefined;
  const announced = () => kick();

  const check = databaseCheck(db, MIGRATIONS, logger);
  const metrics = invoicesMetrics(config.DATABASE_URL.reveal(), logger, chains);
  const app = createHttp(ports, {
    metrics,
    identitySecret: config.IDENTITY_SECRET,
    waitsFor: async () => [
      ...(await waitsForEngines(check, ports.bus)),
      ...[...networks.values()].flatMap((network) => network.lacks() ?? []),
    ],
    without: async () => [
      ...[...chains.values()].flatMap(({ keys }) => keys?.heard.bar?.reason ?? []),
      ...((await check.lacks()) === undefined ? await contradictedPayments(db) : []),
    ],
    announced,
  });
  const disconnect = async () => {
    await Promise.all([...chains.values()].map(({ reader }) => reader.close()));
    await Promise.all([db.close(), metrics.close()]);
  };
  await refuseWrongNetworks('invoices', networks, logger).catch(async (error: unknown) => {
    await disconnect();
    throw error;
  });
  const listening = await listen(app, config.HOST, config.PORT);
  logger.info({ port: listening.port }, 'invoices listens');

  await untilReady(check, logger);
  for (const { addresses } of chains.values()) void addresses.fill();
  await Promise.all(
    [...chains].map(async ([chain, { keys }]) => keys && (await recallKeys({ db }, chain, keys))),
  );
  const bus = given.bus ?? (await connectBus({ url: config.NATS_URL.reveal(), service: 'invoices', logger }));
  const board = watchQuotes(bus, clock, logger, QUOTE_AGE_MAX_MS);
  // As soon as this replica is ready its orders are taken: whose the keys are is asked before, where nobody knows it yet.
  await Promise.all(
    [...chains].map(async ([chain, { keys }]) => {
      if (keys?.heard.bar === undefined) return;
      await compareKeys({ db, bus, clock }, chain, keys).catch((error: unknown) => {
        logger.error(
          { chain, reason: reason(error) },
          'the keys of a chain are not known to be ours at the start',
        );
      });
    }),
  );
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
  const workers = withWorkers ? startWorkers(all, { scanEveryMs, replica, announced, leaseMs }) : undefined;

  return {
    ports: all,
    port: listening.port,
    replica,
    async stop() {
      await Promise.all([listening.close(DRAIN_MS), workers?.stop(), messenger.stop(), board.stop()]);
      await bus.close();
      await disconnect();
    },
  };
}

const CONTRADICTIONS_NAMED = 10;

const contradictedPayments = async (db: Db): Promise<string[]> =>
  (await openContradictions(db, CONTRADICTIONS_NAMED)).map(
    ({ chain, outpoint, blockHeight, invoiceId, isBooked }) =>
      `a payment on ${chain} that its node told twice, ${outpoint}, last of block ${blockHeight}${invoiceId === null ? '' : `, of invoice ${invoiceId}`}: ${isBooked ? 'it is credited already, compare it with another node' : 'it is held back until the node tells it once'}`,
  );

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
