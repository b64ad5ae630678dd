import type { AssetSymbol, Chain, ChainKind } from '@quittance/shared/assets';
import { assetsOf, nativeAsset } from '@quittance/shared/assets';
import { ConfigError } from '@quittance/shared/config';
import type { Secret } from '@quittance/shared/secret';
import type { z } from 'zod';
import { type BitcoinNetwork, bitcoinNetworks } from './bitcoin/network.ts';
import { depositAddresses as bitcoinAddresses } from './bitcoin/wallet.ts';
import type { EvmChain } from './evm/network.ts';
import { checkAddress as checkEvmAddress } from './evm/wallet.ts';
import { type chainSettings, complaintOf, type evmShape } from './settings-schema.ts';
import type { SolanaNetworkName } from './solana/network.ts';

/** EVM chains for development: their nodes make a block only when one is asked for. */
const DEVELOPMENT_CHAIN_IDS = [1_337, 31_337];
const DEVELOPMENT_QUIET_MS = 5_000;

type OfAnyKind = {
  /** Several: they have to agree. Many hold a key. */
  rpcUrls: readonly Secret[];
  /** The first block to look at; where the node is at the first start, when not given. */
  startHeight?: number | undefined;
  /**
   * Development chains only (5 seconds there): so long after the head was reached, time counts as having passed on a
   * chain that makes no blocks. On a public chain a head that does not move is a node that lags.
   */
  quietMs?: number | undefined;
};

export type BitcoinSettings = OfAnyKind & {
  kind: 'bitcoin';
  chain: 'bitcoin';
  network: BitcoinNetwork;
  xpub?: string | undefined;
};

export type EvmSettings = OfAnyKind & {
  kind: 'evm';
  chain: EvmChain;
  chainId: number;
  usdcAddress?: string | undefined;
  xpub?: string | undefined;
};

export type SolanaSettings = OfAnyKind & {
  kind: 'solana';
  chain: 'solana';
  network: SolanaNetworkName;
  usdcMint?: string | undefined;
};

/** A chain as an operator configured it. */
export type ChainSettings = BitcoinSettings | EvmSettings | SolanaSettings;
export type SettingsOf<K extends ChainKind> = Extract<ChainSettings, { kind: K }>;

type ChainShape = typeof chainSettings;
export type GivenChains = z.output<z.ZodObject<ChainShape>>;

/** Settings that only some services need. */
export type Needs = {
  /** A service that gives out addresses needs the extended public keys of the chains that have them. */
  xpubs?: boolean;
};

type Problem = { name: string; message: string };
type Companion = { name: string; value: unknown };
/** A chain that is switched on: its problems, or its settings. */
type Found = { problems: Problem[]; settings: () => ChainSettings };

/** Reads the settings of each chain; undefined for a chain without an RPC URL. */
const readers = {
  bitcoin: readBitcoin,
  ethereum: (given, needs) => readEvm('ethereum', withoutPrefix(given, 'ETHEREUM'), needs),
  solana: readSolana,
  base: (given, needs) => readEvm('base', withoutPrefix(given, 'BASE'), needs),
  polygon: (given, needs) => readEvm('polygon', withoutPrefix(given, 'POLYGON'), needs),
} satisfies Record<Chain, (given: GivenChains, needs: Needs) => Found | undefined>;

/** The chains that are switched on, in the order of our catalogue. Throws ConfigError with every problem of theirs. */
export function configuredChains(given: GivenChains, needs: Needs = {}): ChainSettings[] {
  const found = findChains(given, needs);
  const problems = found.flatMap((one) => one.problems);
  if (problems.length > 0) {
    throw new ConfigError(
      'a chain',
      problems.map(({ name, message }) => `${name}: ${message}`),
    );
  }
  return found.map((one) => one.settings());
}

/**
 * A service's settings with `chains` added: those that are switched on. Every problem is one of the setting it names,
 * and told together with those of the other settings.
 */
export function withChains<S extends ChainShape>(schema: z.ZodObject<S>, needs: Needs = {}) {
  return schema
    .superRefine(
      (given, context) => {
        for (const { name, message } of findChains(given as GivenChains, needs).flatMap(
          ({ problems }) => problems,
        )) {
          context.addIssue({ code: 'custom', input: undefined, path: [name], message });
        }
      },
      // Also when other settings are wrong: one look should mend them all.
      { when: () => true },
    )
    .transform((given) => ({ ...given, chains: configuredChains(given as GivenChains, needs) }));
}

/** The assets a chain can move as it is configured: a token without its contract or mint is none. */
export function configuredAssets(settings: ChainSettings): AssetSymbol[] {
  const native = nativeAsset[settings.chain];
  const hasToken = {
    bitcoin: () => false,
    evm: () => settings.kind === 'evm' && settings.usdcAddress !== undefined,
    solana: () => settings.kind === 'solana' && settings.usdcMint !== undefined,
  } satisfies Record<ChainKind, () => boolean>;
  return assetsOf(settings.chain).filter((asset) => asset === native || hasToken[settings.kind]());
}

function findChains(given: GivenChains, needs: Needs): Found[] {
  return Object.values(readers).flatMap((read) => read(given, needs) ?? []);
}

function readBitcoin(given: GivenChains, needs: Needs): Found | undefined {
  const { RPC_URL, NETWORK, XPUB, START_HEIGHT, QUIET_MS } = withoutPrefix(given, 'BITCOIN');
  if (RPC_URL === undefined) return undefined;
  const problems = missing('BITCOIN', [
    { name: 'NETWORK', value: NETWORK },
    ...(needs.xpubs ? [{ name: 'XPUB', value: XPUB }] : []),
  ]);
  if (XPUB !== undefined && isBitcoinNetwork(NETWORK)) {
    // Which keys are right depends on the network.
    const message = complaintOf(() => bitcoinAddresses(NETWORK, XPUB));
    if (message !== undefined) problems.push({ name: 'BITCOIN_XPUB', message });
  }
  return {
    problems,
    settings: () => ({
      kind: 'bitcoin',
      chain: 'bitcoin',
      rpcUrls: RPC_URL,
      network: present(NETWORK),
      xpub: XPUB,
      startHeight: START_HEIGHT,
      quietMs: QUIET_MS ?? (NETWORK === 'regtest' ? DEVELOPMENT_QUIET_MS : undefined),
    }),
  };
}

type GivenEvm = z.output<z.ZodObject<typeof evmShape>>;

function readEvm(chain: EvmChain, given: GivenEvm, needs: Needs): Found | undefined {
  const { RPC_URL, CHAIN_ID, USDC_ADDRESS, XPUB, START_HEIGHT, QUIET_MS } = given;
  if (RPC_URL === undefined) return undefined;
  return {
    problems: missing(chain.toUpperCase(), [
      { name: 'CHAIN_ID', value: CHAIN_ID },
      ...(needs.xpubs ? [{ name: 'XPUB', value: XPUB }] : []),
    ]),
    settings: () => ({
      kind: 'evm',
      chain,
      rpcUrls: RPC_URL,
      chainId: present(CHAIN_ID),
      usdcAddress: USDC_ADDRESS === undefined ? undefined : checkEvmAddress(USDC_ADDRESS),
      xpub: XPUB,
      startHeight: START_HEIGHT,
      quietMs:
        QUIET_MS ?? (DEVELOPMENT_CHAIN_IDS.includes(present(CHAIN_ID)) ? DEVELOPMENT_QUIET_MS : undefined),
    }),
  };
}

function readSolana(given: GivenChains): Found | undefined {
  const { RPC_URL, NETWORK, USDC_MINT, START_HEIGHT, QUIET_MS } = withoutPrefix(given, 'SOLANA');
  if (RPC_URL === undefined) return undefined;
  return {
    problems: missing('SOLANA', [{ name: 'NETWORK', value: NETWORK }]),
    settings: () => ({
      kind: 'solana',
      chain: 'solana',
      rpcUrls: RPC_URL,
      network: present(NETWORK),
      usdcMint: USDC_MINT,
      startHeight: START_HEIGHT,
      quietMs: QUIET_MS ?? (NETWORK === 'local' ? DEVELOPMENT_QUIET_MS : undefined),
    }),
  };
}

const missing = (prefix: string, companions: readonly Companion[]): Problem[] =>
  companions
    .filter(({ value }) => value === undefined)
    .map(({ name }) => ({ name: `${prefix}_${name}`, message: `is required with ${prefix}_RPC_URL` }));

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('settings are put together when nothing is missing');
  return value;
}

/** What a setting that is wrong in itself leaves behind may be anything; it is complained of already. */
const isBitcoinNetwork = (value: unknown): value is BitcoinNetwork =>
  bitcoinNetworks.some((network) => network === value);

type WithoutPrefix<P extends string, G> = {
  [K in keyof G as K extends `${P}_${infer Rest}` ? Rest : never]: G[K];
};

function withoutPrefix<P extends string>(given: GivenChains, prefix: P): WithoutPrefix<P, GivenChains> {
  const entries = Object.entries(given)
    .filter(([name]) => name.startsWith(`${prefix}_`))
    .map(([name, value]) => [name.slice(prefix.length + 1), value]);
  return Object.fromEntries(entries) as WithoutPrefix<P, GivenChains>;
}
