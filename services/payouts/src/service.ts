import { randomBytes } from 'node:crypto';
import { openKeystore, readPassphrase } from '@quittance/chains/keystore';
import { networkCheck, refuseWrongNetworks } from '@quittance/chains/network-check';
import { checkAddress, connectSender, openSigner } from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets } from '@quittance/chains/settings';
import type { Chain } from '@quittance/shared/assets';
import { ConfigError } from '@quittance/shared/config';
import { type Logger, reason, throttledLog } from '@quittance/shared/logger';
import { watchFiatRates, watchQuotes } from '@quittance/shared/quotes';
import { invariant } from '@quittance/shared/result';
import type { Secret } from '@quittance/shared/secret';
import { type RunningService, startService } from '@quittance/shared/start-service';
import type { PayoutsConfig } from './config.ts';
import { handlers } from './handlers.ts';
import { createHttp } from './http/payouts.ts';
import { payoutsMetrics } from './metrics.ts';
import { deriveAddresses } from './operations/derive-addresses.ts';
import { pausedChains, refuseSeedMismatch } from './operations/signing-pause.ts';
import { stalledNames } from './operations/watch-stalled.ts';
import type { PayoutChain, Ports } from './ports.ts';
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
 * than the configured one, or when the database was used with another seed. Without a chain's node its payouts are
 * accepted, and paid when the node is back.
 */
export async function startPayouts(
  config: PayoutsConfig,
  { workers = true, ...given }: PayoutsOptions = {},
): Promise<PayoutsService> {
  const phrase = recoveryPhrase(config);
  return await startService({
    name: 'payouts',
    config,
    given,
    migrations: new URL('../migrations/', import.meta.url),
    open({ db, bus, clock, logger, replica, wakeRelay }) {
      const chains =
        given.chains ??
        new Map<Chain, PayoutChain>(
          config.chains.map((chain) => [chain.chain, connectChain(chain, phrase, logger)]),
        );
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
        throttledLog: throttledLog(logger, () => clock.now().getTime()),
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
    migrated: refuseSeedMismatch,
    responders: { 'addresses.derive': deriveAddresses },
    handlers,
    workers: workers ? startWorkers : undefined,
  });
}

/** From the keystore or, in a former installation, from the settings. Throws ConfigError when the keystore does not open. */
function recoveryPhrase(config: PayoutsConfig): Secret {
  const { WALLET_KEYSTORE: keystore, WALLET_PASSPHRASE_FILE: passphraseFile, WALLET_SEED: phrase } = config;
  if (phrase !== undefined) return phrase;
  invariant(keystore !== undefined && passphraseFile !== undefined, 'the settings have a wallet');
  const read = <T>(setting: keyof PayoutsConfig, file: () => T): T => {
    try {
      return file();
    } catch (error) {
      throw new ConfigError('payouts', [`${setting}: ${reason(error)}`]);
    }
  };
  const passphrase = read('WALLET_PASSPHRASE_FILE', () => readPassphrase(passphraseFile));
  return read('WALLET_KEYSTORE', () => openKeystore(keystore, passphrase));
}

function connectChain(settings: ChainSettings, phrase: Secret, logger: Logger): PayoutChain {
  const signer = openSigner(settings, phrase.reveal());
  // Signer and sender are of the kind that the settings are of.
  return {
    kind: settings.kind,
    chain: settings.chain,
    sender: connectSender(settings, signer.addresses, { logger }),
    signer,
    assets: configuredAssets(settings),
    signingPause: { reason: undefined },
    checkAddress: (text: string) => checkAddress(settings, text),
  } as PayoutChain;
}
