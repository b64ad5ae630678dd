import { randomBytes } from 'node:crypto';
import { explorerUrl } from '@quittance/chains/explorer';
import { networkCheck, refuseWrongNetworks } from '@quittance/chains/network-check';
import { checkAddress, connectSender } from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets } from '@quittance/chains/settings';
import type { Chain } from '@quittance/shared/assets';
import { type Logger, throttledLog } from '@quittance/shared/logger';
import { watchFiatRates, watchQuotes } from '@quittance/shared/quotes';
import { invariant } from '@quittance/shared/result';
import { type RunningService, startService } from '@quittance/shared/start-service';
import type { PayoutsConfig } from './config.ts';
import { handlers } from './handlers.ts';
import { createHttp } from './http/payouts.ts';
import { payoutsMetrics } from './metrics.ts';
import { pausedChains, refuseWalletMismatch } from './operations/signing-pause.ts';
import { stalledNames } from './operations/watch-stalled.ts';
import type { PayoutChain, Ports } from './ports.ts';
import { busSigner } from './transaction-signer.ts';
import { startWorkers } from './workers.ts';

export type PayoutsService = RunningService<Ports>;

export type PayoutsOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

const QUOTE_AGE_MAX_MS = 60_000;
const GRACE_PERIODS = { resendAfterMs: 5_000, doubtForMs: 30_000, stuckAfterMs: 3 * 60_000 } as const;

/**
 * Starts a payouts replica, in the order that `startService` gives. Throws ConfigError when a node is on another network
 * than the configured one, or when the database was used with another hot wallet. Without a chain's node its payouts are
 * accepted, and paid when the node is back.
 */
export async function startPayouts(
  config: PayoutsConfig,
  { workers = true, ...given }: PayoutsOptions = {},
): Promise<PayoutsService> {
  return await startService({
    name: 'payouts',
    config,
    given,
    migrations: new URL('../migrations/', import.meta.url),
    open({ db, bus, clock, logger, replica, tracer, wakeRelay }) {
      const chains =
        given.chains ??
        new Map<Chain, PayoutChain>(config.chains.map((chain) => [chain.chain, connectChain(chain, logger)]));
      const hotWallets = Object.fromEntries(
        [...chains].map(([chain, { sender }]) => [chain, sender.hotAddress]),
      );
      logger.info({ hot_wallets: hotWallets }, 'payouts are paid from these hot wallets');
      const quotes = watchQuotes(bus, clock, logger, QUOTE_AGE_MAX_MS);
      const fiatRates = watchFiatRates(bus, clock, logger, QUOTE_AGE_MAX_MS);
      const ports: Ports = {
        db,
        bus,
        clock,
        random: randomBytes,
        logger,
        tracer,
        throttledLog: throttledLog(logger),
        signer: busSigner(bus, clock),
        quotes,
        fiatRates,
        chains,
        stalled: new Map(),
        settings: {
          replica,
          gatewayKeys: config.GATEWAY_PUBLIC_KEY,
          claimLinksSecret: config.CLAIM_LINKS_SECRET,
          publicUrl: config.PUBLIC_URL,
          chainWorkerEveryMs: config.PAYOUTS_EVERY_MS,
          leaseMs: config.LEASE_MS,
          gracePeriods: GRACE_PERIODS,
        },
        wakeRelay,
        ...given,
      };
      return {
        ports,
        metrics: payoutsMetrics(config.DATABASE_URL.reveal(), logger, chains),
        watchers: [quotes, fiatRates],
        connections: [...chains.values()].map(({ sender }) => sender),
      };
    },
    check: ({ chains, logger }) =>
      refuseWrongNetworks(
        'payouts',
        new Map([...chains].map(([chain, { sender }]) => [chain, networkCheck(sender)])),
        logger,
      ),
    http: (ports, parts) => {
      const paused = () => pausedChains(ports.chains.values());
      return createHttp(ports, {
        ...parts,
        waitsFor: async () => [...(await parts.waitsFor()), ...paused().waitsFor],
        without: () => [...paused().without, ...stalledNames(ports.stalled)],
      });
    },
    migrated: refuseWalletMismatch,
    handlers,
    workers: workers ? startWorkers : undefined,
  });
}

function connectChain(settings: ChainSettings, logger: Logger): PayoutChain {
  const { hotAddress } = settings;
  invariant(hotAddress !== undefined, 'a chain without its hot address is no valid setting');
  // The sender is of the kind that the settings are of.
  return {
    kind: settings.kind,
    chain: settings.chain,
    sender: connectSender(settings, { hotAddress }, { logger }),
    assets: configuredAssets(settings),
    signingPause: { reason: undefined },
    checkAddress: (text: string) => checkAddress(settings, text),
    explorerUrl: (txHash: string) => explorerUrl(settings, txHash),
  } as PayoutChain;
}
