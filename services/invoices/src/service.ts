import { refuseWrongNetworks } from '@quittance/chains/network-check';
import type { Db } from '@quittance/shared/db';
import { createApp, finishApp } from '@quittance/shared/http';
import { type AccountId, type InvoiceId, pooledBytes } from '@quittance/shared/ids';
import { reason } from '@quittance/shared/logger';
import { watchFiatRates, watchQuotes } from '@quittance/shared/quotes';
import { requestBatcher } from '@quittance/shared/request-batcher';
import { type RunningService, startService } from '@quittance/shared/start-service';
import type { InvoicesConfig } from './config.ts';
import { handlers } from './handlers.ts';
import { routeInvoiceSettings } from './http/invoice-settings.ts';
import { routeInvoices } from './http/invoices.ts';
import { routeOperator } from './http/operator.ts';
import { routePageEvents } from './http/page-events.ts';
import { routePages, sendPageOrJson } from './http/pages.ts';
import { routePaymentLinks } from './http/payment-links.ts';
import { routeVolume } from './http/volume.ts';
import { invoicesMetrics } from './metrics.ts';
import { compareKeys, loadKeyStatus } from './operations/compare-keys.ts';
import { describeInvoice } from './operations/describe-invoice.ts';
import { describeShop } from './operations/describe-shop.ts';
import { createPageStreams } from './page-streams.ts';
import type { Ports } from './ports.ts';
import { openContradictions } from './store/contradictions.ts';
import { findInvoices } from './store/invoice-reads.ts';
import { findSettings, findShops } from './store/invoice-settings.ts';
import { type NewInvoice, saveNewInvoices } from './store/invoices.ts';
import { pageVersions } from './store/page-versions.ts';
import { watchChains } from './watch-chains.ts';
import { startWorkers } from './workers.ts';

export type InvoicesService = RunningService<Ports>;

export type InvoicesOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

const QUOTE_AGE_MAX_MS = 60_000;
/** Limits of batched requests: rows per statement, and statements in flight. */
const BATCHES = { max: 64, atOnce: 2 };

/**
 * Starts an invoices replica, in the order that `startService` gives. Throws ConfigError when a chain's node is on
 * another network than the configured one. Without a node, invoices are created and shown; payments are found when the
 * node is back.
 */
export const startInvoices = (
  config: InvoicesConfig,
  { workers = true, ...given }: InvoicesOptions = {},
): Promise<InvoicesService> =>
  startService({
    name: 'invoices',
    config,
    given,
    migrations: new URL('../migrations/', import.meta.url),
    open({ db, bus, clock, logger, replica, tracer, wakeRelay }) {
      const { ADDRESSES_AHEAD: ahead, SCAN_EVERY_MS: scanEveryMs, LEASE_MS: leaseMs } = config;
      const chains = given.chains ?? watchChains(config.chains, { db, logger, ahead, scanEveryMs });
      if (chains.size === 0) logger.warn('no chain is configured: no invoice can be created');
      // Until NATS is connected, no rate is fresh: no invoice is created, and existing ones can be read.
      const quotes = watchQuotes(bus, clock, logger, QUOTE_AGE_MAX_MS);
      const fiatRates = watchFiatRates(bus, clock, logger, QUOTE_AGE_MAX_MS);
      const ports: Ports = {
        db,
        bus,
        clock,
        random: pooledBytes,
        logger,
        tracer,
        quotes,
        fiatRates,
        chains,
        ...batched({ db, clock, chains }),
        pageStreams: createPageStreams({ db, clock, chains, logger }, config.PAGE_STREAMS_MAX),
        settings: {
          replica,
          gatewayKeys: config.GATEWAY_PUBLIC_KEY,
          publicUrl: config.PUBLIC_URL,
          toleranceBps: config.TOLERANCE_BPS,
          scanEveryMs,
          scanIdleEveryMs: config.SCAN_IDLE_EVERY_MS,
          leaseMs,
        },
        wakeRelay,
        ...given,
      };
      return {
        ports,
        metrics: invoicesMetrics(config.DATABASE_URL.reveal(), logger, {
          chains,
          openPageStreams: () => ports.pageStreams.count(),
        }),
        watchers: [quotes, fiatRates],
        connections: [...chains.values()].map(({ reader }) => reader),
      };
    },
    check: ({ chains, logger }) =>
      refuseWrongNetworks(
        'invoices',
        new Map([...chains].map(([chain, { network }]) => [chain, network])),
        logger,
      ),
    http: (ports, parts) => {
      const chains = [...ports.chains.values()];
      const app = createApp({
        ...parts,
        lists: ['expand'],
        waitsFor: async () => [
          ...(await parts.waitsFor()),
          ...chains.flatMap(({ network }) => network.lacks() ?? []),
        ],
        without: async () => [
          ...chains.flatMap(({ keys }) => keys?.status.problem?.reason ?? []),
          ...((await parts.waitsFor()).length === 0 ? await contradictedPayments(ports.db) : []),
        ],
      });
      routeInvoices(app, ports);
      routeInvoiceSettings(app, ports);
      routePaymentLinks(app, ports);
      routeVolume(app, ports);
      routeOperator(app, ports);
      routePageEvents(app, ports);
      routePages(app, ports);
      finishApp(app, parts.logger, sendPageOrJson);
      return app;
    },
    async migrated({ db, chains }) {
      for (const { addresses } of chains.values()) void addresses.fill();
      await Promise.all(
        [...chains].map(async ([chain, { keys }]) => keys && (await loadKeyStatus({ db }, chain, keys))),
      );
    },
    // Once the replica is ready it takes requests for invoices: keys that were never confirmed are asked about first.
    async connected(ports) {
      await Promise.all(
        [...ports.chains].map(async ([chain, { keys }]) => {
          if (keys?.status.problem === undefined) return;
          await compareKeys(ports, chain, keys).catch((error: unknown) => {
            ports.logger.error(
              { chain, reason: reason(error) },
              'payouts did not confirm the public key of a chain at the start',
            );
          });
        }),
      );
    },
    responders: { 'invoice.describe': describeInvoice, 'shop.describe': describeShop },
    handlers,
    endStreams: ({ pageStreams }) => pageStreams.close(),
    workers: workers ? startWorkers : undefined,
  });

const CONTRADICTIONS_LISTED_MAX = 10;

const contradictedPayments = async (db: Db): Promise<string[]> =>
  (await openContradictions(db, CONTRADICTIONS_LISTED_MAX)).map(
    ({ chain, outpoint, blockHeight, invoiceId, isBooked }) =>
      `a payment on ${chain} that its node contradicts, ${outpoint}, last in block ${blockHeight}${invoiceId === null ? '' : `, of invoice ${invoiceId}`}: ${isBooked ? 'it is credited already, compare it with another node' : 'it is held until the node reports it once'}`,
  );

/** Requests at the same moment share one statement. */
function batched({
  db,
  clock,
  chains,
}: Pick<Ports, 'db' | 'clock' | 'chains'>): Pick<
  Ports,
  'saveInvoice' | 'findInvoice' | 'pageVersion' | 'settingsOf' | 'shopOf'
> {
  return {
    saveInvoice: requestBatcher({
      run: async (made: readonly NewInvoice[]) => {
        await saveNewInvoices(db, made);
        return made.map(() => undefined);
      },
      ...BATCHES,
    }),
    findInvoice: requestBatcher({
      run: (ids: readonly InvoiceId[]) => findInvoices(db, ids),
      ...BATCHES,
    }),
    pageVersion: requestBatcher({
      run: async (ids: readonly InvoiceId[]) => {
        const versions = await pageVersions(db, ids, clock.now(), chains);
        return ids.map((id) => versions.get(id));
      },
      ...BATCHES,
    }),
    // Each request is read after it arrived: a change that was answered holds for every later invoice, on any replica.
    settingsOf: requestBatcher({
      run: (accounts: readonly AccountId[]) => findSettings(db, accounts),
      ...BATCHES,
    }),
    shopOf: requestBatcher({
      run: (accounts: readonly AccountId[]) => findShops(db, accounts),
      ...BATCHES,
    }),
  };
}
