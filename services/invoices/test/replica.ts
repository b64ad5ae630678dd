import { explorerUrl } from '@quittance/chains/explorer';
import { networkCheck } from '@quittance/chains/network-check';
import { checkAddress, depositAddresses, paymentUri, walletTransfer } from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets } from '@quittance/chains/settings';
import type { Chain } from '@quittance/shared/assets';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import type { FiatRate, Quote } from '@quittance/shared/quotes';
import { gatewayKeys } from '@quittance/testkit/api';
import { aFiatRate, aQuote } from '@quittance/testkit/builders';
import { onServer } from '@quittance/testkit/databases';
import type { TestDatabase } from '@quittance/testkit/engines';
import { createAddressFilter } from '../src/address-filter.ts';
import { derivedAddressPool, storedAddressPool } from '../src/address-pool.ts';
import { configSchema } from '../src/config.ts';
import { unconfirmedKeys } from '../src/operations/compare-keys.ts';
import type { WatchedChain } from '../src/ports.ts';
import { type InvoicesService, startInvoices } from '../src/service.ts';
import { nextAddressBlock } from '../src/store/addresses.ts';
import type { ScriptedChain } from './scripted-chain.ts';

/** The account m/44'/60'/0' of "legal winner thank year wave sausage worth useful legal winner thank yellow". */
export const XPUB =
  'xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByNNhwWaNQRuhP3JcC3';
/** The account m/84'/1'/0' of the same words. */
export const TPUB =
  'tpubDDA3frU31t8hSUKpX7UmhvJuDGG1r7UNzx85fQ49Xa15ax6Yby2sLQYCwCDWgdXQeb4iK8EZGKwRHDdKZTgvpHNi5WeUQn5ZBpEFSnM8FkE';
export type FixtureOptions = {
  /** The NATS server of another fixture. Default: one of its own. */
  natsUrl?: string;
  /** The only chain of this fixture. */
  chain?: 'ethereum' | 'bitcoin' | 'solana';
  /** Default: never, because most tests let hours pass between two scans. */
  outageMs?: number;
  staleMs?: number;
  gapMs?: number;
  lateMs?: number;
  /** When a missing mempool payment counts as dropped. Default: at once. */
  droppedAfterMs?: number;
  toleranceBps?: number;
  /** Payouts has not confirmed the keys of our addresses yet. */
  unconfirmed?: boolean;
};

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is answered and asserts on it
export type Any = any;

/** The quotes that a fixture begins with, by asset. */
export function someQuotes(chainName: Chain, now: Date): Map<string, Quote> {
  const terms = [
    { asset: 'ETH' },
    { asset: 'USDC_ERC20', usd_rate: '1', network_fee: '1000000', dust: '10000' },
    { asset: 'BTC', usd_rate: '50000', network_fee: '1000', dust: '1000', active: chainName === 'bitcoin' },
    { asset: 'SOL', usd_rate: '100', network_fee: '5000', dust: '890880', min_confirmations: 1 },
    { asset: 'USDC_SOL', usd_rate: '1', network_fee: '1', dust: '10000', min_confirmations: 1 },
  ] as const;
  return new Map(terms.map((one) => [one.asset, aQuote(one, now)]));
}

/** The rates that a fixture begins with, by currency. */
export const someFiatRates = (now: Date): Map<string, FiatRate> =>
  new Map([
    ['EUR', aFiatRate('EUR', '1.0845', now)],
    ['JPY', aFiatRate('JPY', '0.006666666666666667', now)],
  ]);

/** Stores the answer of payouts that it has the keys of our addresses. */
export async function confirmKeys(database: TestDatabase, given: ChainSettings): Promise<void> {
  if (given.kind === 'solana') throw new Error('its addresses are not derived from a public key');
  const first = depositAddresses(given, given.xpub ?? '')?.at(0);
  await onServer(
    database.adminUrl,
    `insert into invoices.key_comparisons values ('${given.chain}', '${first}', '${first}', now())`,
  );
}

export type ReplicaPorts = Omit<Parameters<typeof startInvoices>[1] & object, 'chains'> & {
  toleranceBps: number;
  watch: (db: InvoicesService['ports']['db']) => WatchedChain;
};

/** The configuration of a service on this database and NATS. */
export const configOf = (database: TestDatabase, natsUrl: string, env: Record<string, string>) => ({
  ...configSchema.parse({
    PORT: '1',
    DATABASE_URL: database.urlOf('invoices'),
    NATS_URL: natsUrl,
    GATEWAY_PUBLIC_KEY: gatewayKeys.publicKey,
    PUBLIC_URL: 'https://pay.example/',
    LOG_LEVEL: 'silent',
    ADDRESSES_AHEAD: '32',
    // Each step scans, unless a test is about those that do not.
    SCAN_IDLE_EVERY_MS: '1',
    ...env,
  }),
  PORT: 0,
});

export async function startReplica(
  database: TestDatabase,
  natsUrl: string,
  given: ReplicaPorts,
): Promise<InvoicesService> {
  const config = configOf(database, natsUrl, {
    ETHEREUM_RPC_URL: 'http://127.0.0.1:1',
    ETHEREUM_CHAIN_ID: '31337',
    ETHEREUM_USDC_ADDRESS: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    ETHEREUM_XPUB: XPUB,
    TOLERANCE_BPS: String(given.toleranceBps),
  });
  const { watch, toleranceBps: _, ...ports } = given;
  const db = openDb({
    url: config.DATABASE_URL.reveal(),
    schema: 'invoices',
    pool: 6,
    logger: createLogger('test', 'silent'),
  });
  const watched = watch(db);
  const chains = new Map<Chain, WatchedChain>([[watched.chain, watched]]);
  return await startInvoices(config, { ...ports, db, chains, workers: false });
}

export const settings = {
  ethereum: {
    kind: 'evm',
    chain: 'ethereum',
    rpcUrls: [],
    chainId: 31_337,
    usdcAddress: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    xpub: XPUB,
    explorerUrl: 'https://scan.example/tx/{tx}',
  },
  bitcoin: { kind: 'bitcoin', chain: 'bitcoin', rpcUrls: [], network: 'regtest', xpub: TPUB },
  solana: {
    kind: 'solana',
    chain: 'solana',
    rpcUrls: [],
    network: 'local',
    usdcMint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  },
} as const satisfies Partial<Record<Chain, ChainSettings>>;

export function watchScripted(
  chain: ScriptedChain,
  db: InvoicesService['ports']['db'],
  {
    chain: name = 'ethereum',
    outageMs = Number.POSITIVE_INFINITY,
    staleMs,
    gapMs,
    lateMs,
    droppedAfterMs = 0,
  }: FixtureOptions,
): WatchedChain {
  const given: ChainSettings = settings[name];
  return {
    chain: name,
    assets: new Set(configuredAssets(given)),
    reader: chain,
    network: networkCheck(chain),
    ...addressesOf(given, db),
    filter: createAddressFilter(name),
    outageMs,
    staleMs,
    gapMs,
    lateMs,
    droppedAfterMs,
    uri: (payment) => paymentUri(given, payment),
    walletTransfer: (payment) => walletTransfer(given, payment),
    explorerUrl: (txHash) => explorerUrl(given, txHash),
  };
}

function addressesOf(
  given: ChainSettings,
  db: InvoicesService['ports']['db'],
): Pick<WatchedChain, 'addresses' | 'storedPool' | 'keys'> {
  if (given.kind === 'solana') {
    const isAddress = (text: string) => checkAddress(given, text) === text;
    return { addresses: storedAddressPool(db, given.chain), storedPool: { ahead: 20, isAddress } };
  }
  const derived = depositAddresses(given, given.xpub ?? '');
  if (derived === undefined) throw new Error('these chains have public keys');
  return {
    addresses: derivedAddressPool({
      addressAt: derived.at,
      nextBlock: () => nextAddressBlock(db, given.kind),
      ahead: 32,
      logger: createLogger('test', 'silent'),
    }),
    keys: unconfirmedKeys(given.chain, derived.at(0)),
  };
}
