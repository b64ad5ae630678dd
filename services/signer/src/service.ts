import type { WalletAddresses } from '@quittance/chains/chain';
import type { HotKeyOf } from '@quittance/chains/hot-key';
import { openKeystore, readPassphrase } from '@quittance/chains/keystore';
import { networkCheck, refuseWrongNetworks } from '@quittance/chains/network-check';
import { checkAddress, connectSender, openSigner } from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets } from '@quittance/chains/settings';
import type { SolanaSender } from '@quittance/chains/solana/sender';
import { openHotKey } from '@quittance/kms/hot-keys';
import { KmsRefused } from '@quittance/kms/kms';
import type { Chain, ChainKind } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import { ConfigError } from '@quittance/shared/config';
import { type Logger, reason, throttledLog } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import type { Secret } from '@quittance/shared/secret';
import { type RunningService, startService } from '@quittance/shared/start-service';
import { hotKeySetting, type SignerConfig } from './config.ts';
import { deriveAddresses } from './operations/derive-addresses.ts';
import { reconciliationOf } from './operations/read-reconciliation.ts';
import { refuseSeedMismatch } from './operations/seed-mismatch.ts';
import { signTransactions } from './operations/sign-transactions.ts';
import type { Ports, SignerChain, SolanaNodes } from './ports.ts';

export type SignerService = RunningService<Ports>;

export type SignerOptions = Partial<Omit<Ports, 'bus'>> & { bus?: Bus };

const SECOND_MS = 1_000;

/**
 * Starts a signer replica, in the order that `startService` gives. It alone has the recovery phrase. It listens nowhere: it is
 * asked over NATS. Throws ConfigError when a node of Solana is on another network than the configured one, when the database was
 * used with another seed, or when a key in a KMS cannot be used.
 */
export async function startSigner(config: SignerConfig, given: SignerOptions = {}): Promise<SignerService> {
  const phrase = recoveryPhrase(config);
  const hotKeys = await openHotKeys(config);
  const settings = {
    limits: config.SIGNER_LIMITS,
    reconciledWithinMs: config.RECONCILED_WITHIN_SECONDS * SECOND_MS,
  };
  return await startService({
    name: 'signer',
    config,
    given,
    migrations: new URL('../migrations/', import.meta.url),
    open({ db, bus, clock, logger }) {
      const connected = config.chains.map((chain) =>
        connectChain(chain, phrase, hotKeys.get(chain.chain), logger),
      );
      const chains = new Map<Chain, SignerChain>(connected.map(({ on }) => [on.chain, on]));
      const hotWallets = Object.fromEntries(
        connected.map(({ on }) => [on.chain, on.signer.addresses.hotAddress]),
      );
      logger.info({ hot_wallets: hotWallets }, 'transactions are signed for these hot wallets');
      const withoutLimits = config.chains
        .flatMap(configuredAssets)
        .filter((asset) => settings.limits[asset] === undefined);
      if (withoutLimits.length > 0)
        logger.warn({ assets: withoutLimits }, 'SIGNER_LIMITS has no limits for these assets');
      const throttled = throttledLog(logger);
      const reconciliation = reconciliationOf({ bus, clock, throttledLog: throttled });
      const ports: Ports = {
        ...{ db, bus, clock, logger, throttledLog: throttled, chains, reconciliation, settings },
        ...given,
      };
      return { ports, connections: connected.flatMap(({ sender }) => sender ?? []) };
    },
    check: ({ chains, logger }) =>
      refuseWrongNetworks(
        'signer',
        new Map([...chains].flatMap(([chain, { nodes }]) => (nodes === undefined ? [] : [[chain, nodes]]))),
        logger,
      ),
    migrated: refuseSeedMismatch,
    responders: { 'transactions.sign': signTransactions, 'addresses.derive': deriveAddresses },
  });
}

/** From the keystore or, in a former installation, from the settings. Throws ConfigError when the keystore does not open. */
function recoveryPhrase(config: SignerConfig): Secret {
  const { WALLET_KEYSTORE: keystore, WALLET_PASSPHRASE_FILE: passphraseFile, WALLET_SEED: phrase } = config;
  if (phrase !== undefined) return phrase;
  invariant(keystore !== undefined && passphraseFile !== undefined, 'the settings have a wallet');
  const read = <T>(setting: keyof SignerConfig, file: () => T): T => {
    try {
      return file();
    } catch (error) {
      throw new ConfigError('signer', [`${setting}: ${reason(error)}`]);
    }
  };
  const passphrase = read('WALLET_PASSPHRASE_FILE', () => readPassphrase(passphraseFile));
  return read('WALLET_KEYSTORE', () => openKeystore(keystore, passphrase));
}

/** The keys of hot wallets that are in a KMS. Throws ConfigError when one cannot be used, with all that is wrong. */
async function openHotKeys(config: SignerConfig): Promise<Map<Chain, HotKeyOf<ChainKind>>> {
  const keys = new Map<Chain, HotKeyOf<ChainKind>>();
  const problems: string[] = [];
  const options = { googleEndpoint: config.GOOGLE_KMS_ENDPOINT };
  for (const { kind, chain } of config.chains) {
    const name = config[hotKeySetting(chain)];
    if (name === undefined) continue;
    try {
      keys.set(chain, await openHotKey(kind, name, options));
    } catch (error) {
      const problem = `${hotKeySetting(chain)}: ${reason(error)}`;
      if (!(error instanceof KmsRefused)) throw new Error(problem, { cause: error });
      problems.push(problem);
    }
  }
  if (problems.length > 0) throw new ConfigError('signer', problems);
  return keys;
}

function connectChain(
  settings: ChainSettings,
  phrase: Secret,
  hotKey: HotKeyOf<ChainKind> | undefined,
  logger: Logger,
): { on: SignerChain; sender: SolanaSender | undefined } {
  const signer = openSigner<ChainKind>(settings, phrase.reveal(), hotKey);
  const sender =
    settings.kind === 'solana'
      ? connectSender(settings, signer.addresses as WalletAddresses, { logger })
      : undefined;
  // The signer is of the kind that the settings are of.
  const on = {
    kind: settings.kind,
    chain: settings.chain,
    signer,
    hotKeyIn: hotKey === undefined ? 'phrase' : 'kms',
    assets: configuredAssets(settings),
    checkAddress: (text: string) => checkAddress(settings, text),
    nodes: sender && nodesOf(sender),
  } as SignerChain;
  return { on, sender };
}

function nodesOf(sender: SolanaSender): SolanaNodes {
  const { nonInclusion, finalizedHeight, lifetime } = sender;
  return { nonInclusion, finalizedHeight, lifetime, check: networkCheck(sender).check };
}
