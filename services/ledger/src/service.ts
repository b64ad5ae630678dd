import { assets as factsOf, nativeAsset } from '@quittance/shared/assets';
import { watchFeeEstimates } from '@quittance/shared/quotes';
import { type MessengerSettings, type RunningService, startService } from '@quittance/shared/start-service';
import type { LedgerConfig } from './config.ts';
import { handlers } from './handlers.ts';
import { createHttp } from './http/routes.ts';
import { ledgerMetrics } from './metrics.ts';
import { applyAssetSettings } from './operations/apply-asset-settings.ts';
import { describeHolds } from './operations/describe-holds.ts';
import { placeAskedHold, proofBatcherOf } from './operations/place-asked-hold.ts';
import { holdBatcherOf } from './operations/place-hold.ts';
import { readAccepted, readBalance } from './operations/read-balance.ts';
import type { Ports } from './ports.ts';
import { filePrices } from './prices/file-prices.ts';
import { publicPrices } from './prices/public-prices.ts';
import { deleteReplicaRow } from './store/asset-settings.ts';
import { assetsWithoutRate } from './store/quotes.ts';
import { startWorkers } from './workers.ts';

export type LedgerService = RunningService<Ports>;

export type LedgerOptions = Partial<Ports> &
  MessengerSettings & {
    /** False in tests that step the workers themselves. */
    workers?: boolean;
  };

/**
 * A statement is planned once a connection, perhaps while its tables are still empty and reading all of them
 * is the shortest way: it would stay so while they grow, until Postgres next counts them. Compiling a plan
 * takes longer than any of ours runs.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };

/** Starts a ledger replica, in the order that `startService` gives. */
export const startLedger = (
  config: LedgerConfig,
  { workers = true, ...given }: LedgerOptions = {},
): Promise<LedgerService> =>
  startService({
    name: 'ledger',
    config,
    given,
    migrations: new URL('../migrations/', import.meta.url),
    databaseSettings: PLANNING,
    open({ db, bus, clock, logger, replica, wakeRelay }) {
      const fees = watchFeeEstimates(bus, clock, logger);
      const metrics = ledgerMetrics(config.DATABASE_URL.reveal(), logger);
      const gatewayKeys = config.GATEWAY_PUBLIC_KEY;
      const ports: Ports = {
        db,
        bus,
        clock,
        logger,
        wakeRelay,
        prices: pricesOf(config, { clock, logger }),
        fees,
        holds: holdBatcherOf({ db, clock }),
        proofs: proofBatcherOf({ db, clock, gatewayKeys }),
        countUnasked: metrics.countUnasked,
        countMoved: metrics.countMoved,
        settingsState: { differences: [] },
        settings: {
          replica,
          gatewayKeys,
          unprovenUntil: config.UNPROVEN_HOLDS_UNTIL,
          publicUrl: config.PUBLIC_URL,
          quotesEveryMs: config.QUOTES_EVERY_MS,
          assets: { active: config.ASSETS_ACTIVE, minConfirmations: config.MIN_CONFIRMATIONS },
        },
        ...given,
      };
      return { ports, metrics, watchers: [fees] };
    },
    http: (ports, parts) =>
      createHttp(ports, {
        ...parts,
        async waitsFor() {
          const waiting = await parts.waitsFor();
          if (waiting.length > 0) return waiting;
          return (await assetsWithoutRate(ports.db)).map((symbol) => `a first rate of ${symbol}`);
        },
      }),
    async migrated({ db, settings, settingsState }) {
      settingsState.differences = await applyAssetSettings({ db }, settings.replica, settings.assets, true);
    },
    responders: {
      'hold.place': placeAskedHold,
      'holds.describe': describeHolds,
      'balance.read': readBalance,
      'accepted.read': readAccepted,
    },
    handlers,
    committed: ({ countMoved }, _workers, events) => countMoved(events),
    workers: workers ? startWorkers : undefined,
    leave: ({ db, settings }) => deleteReplicaRow(db, settings.replica),
  });

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
