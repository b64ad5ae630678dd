import {
  type AssetSymbol,
  assetsOf,
  type Chain,
  type ChainKind,
  nativeAsset,
} from '@quittance/shared/assets';
import type { Secret } from '@quittance/shared/secret';
import type { z } from 'zod';
import { type BitcoinNetwork, bitcoinNetworks } from './bitcoin/network.ts';
import {
  depositAddresses as bitcoinAddresses,
  checkAddress as checkBitcoinAddress,
} from './bitcoin/wallet.ts';
import type { EvmChain } from './evm/network.ts';
import { checkAddress as checkEvmAddress } from './evm/wallet.ts';
import {
  bitcoinShape,
  type chainSettings,
  complaintOf,
  evmShape,
  type Given,
  type ofAnyKind,
  solanaShape,
  withoutPrefix,
} from './settings-schema.ts';
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
  /** The page of a transaction, with a place for its hash (see explorer.ts). */
  explorerUrl?: string | undefined;
  /** The hot wallet's address, canonical. */
  hotAddress?: string | undefined;
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

type Needs = {
  /** A service that gives out addresses needs the extended public keys of the chains that have them. */
  xpubs?: boolean;
  /** A service that pays from the hot wallets needs their addresses. */
  hotAddresses?: boolean;
};

/**
 * A service's settings with `chains` added: those that are switched on, in the order of our catalogue. Every problem is
 * one of the setting it names, and told together with those of the other settings.
 */
export function withChains<S extends ChainShape>(schema: z.ZodObject<S>, needs: Needs = {}) {
  return schema
    .superRefine(
      (given, context) => {
        const problems = findChains(given as Given<ChainShape>, needs).flatMap((found) => found.problems);
        for (const { name, message } of problems)
          context.addIssue({ code: 'custom', input: undefined, path: [name], message });
      },
      // Also when other settings are wrong: one look should mend them all.
      { when: () => true },
    )
    .transform((given) => {
      const found = findChains(given as Given<ChainShape>, needs);
      return { ...given, chains: found.map((one) => one.settings()) };
    });
}

/** The assets a chain can move as it is configured: a token without its contract or mint is none. */
export function configuredAssets(settings: ChainSettings): AssetSymbol[] {
  const { chain } = settings;
  return assetsOf(chain).filter((asset) => asset === nativeAsset[chain] || tokenOf(settings) !== undefined);
}

function tokenOf(settings: ChainSettings): string | undefined {
  switch (settings.kind) {
    case 'bitcoin':
      return undefined;
    case 'evm':
      return settings.usdcAddress;
    case 'solana':
      return settings.usdcMint;
  }
}

type Problem = { name: string; message: string };
/** A chain that is switched on: its problems, or its settings. */
type Found = { problems: Problem[]; settings: () => ChainSettings };

/** The chains that have an RPC URL. */
function findChains(given: Given<ChainShape>, needs: Needs): Found[] {
  const found = {
    bitcoin: findBitcoin(withoutPrefix(bitcoinShape, 'BITCOIN', given), needs),
    ethereum: findEvm('ethereum', withoutPrefix(evmShape, 'ETHEREUM', given), needs),
    solana: findSolana(withoutPrefix(solanaShape, 'SOLANA', given), needs),
    base: findEvm('base', withoutPrefix(evmShape, 'BASE', given), needs),
    polygon: findEvm('polygon', withoutPrefix(evmShape, 'POLYGON', given), needs),
  } satisfies Record<Chain, Found | undefined>;
  return Object.values(found).filter((one) => one !== undefined);
}

function findBitcoin(given: Given<typeof bitcoinShape>, needs: Needs): Found | undefined {
  const { RPC_URL, NETWORK, XPUB, HOT_ADDRESS } = given;
  if (RPC_URL === undefined) return undefined;
  const problems = missing('BITCOIN', { NETWORK, ...neededOf(given, needs) });
  // Which keys are right depends on the network, which may be anything when it is wrong in itself.
  if (XPUB !== undefined && bitcoinNetworks.some((network) => network === NETWORK)) {
    const message = complaintOf(() => bitcoinAddresses(present(NETWORK), XPUB));
    if (message !== undefined) problems.push({ name: 'BITCOIN_XPUB', message });
  }
  if (HOT_ADDRESS !== undefined && bitcoinNetworks.some((network) => network === NETWORK)) {
    if (checkBitcoinAddress(present(NETWORK), HOT_ADDRESS) === undefined)
      problems.push({ name: 'BITCOIN_HOT_ADDRESS', message: `must be an address of Bitcoin's ${NETWORK}` });
  }
  return {
    problems,
    settings: () => ({
      kind: 'bitcoin',
      chain: 'bitcoin',
      network: present(NETWORK),
      xpub: XPUB,
      ...settingsOfAnyKind(given, NETWORK === 'regtest'),
      hotAddress: HOT_ADDRESS === undefined ? undefined : checkBitcoinAddress(present(NETWORK), HOT_ADDRESS),
    }),
  };
}

function findEvm(chain: EvmChain, given: Given<typeof evmShape>, needs: Needs): Found | undefined {
  const { RPC_URL, CHAIN_ID, USDC_ADDRESS, XPUB, HOT_ADDRESS } = given;
  if (RPC_URL === undefined) return undefined;
  return {
    problems: missing(chain.toUpperCase(), { CHAIN_ID, ...neededOf(given, needs) }),
    settings: () => ({
      kind: 'evm',
      chain,
      chainId: present(CHAIN_ID),
      usdcAddress: USDC_ADDRESS === undefined ? undefined : checkEvmAddress(USDC_ADDRESS),
      xpub: XPUB,
      ...settingsOfAnyKind(given, DEVELOPMENT_CHAIN_IDS.includes(present(CHAIN_ID))),
      hotAddress: HOT_ADDRESS === undefined ? undefined : checkEvmAddress(HOT_ADDRESS),
    }),
  };
}

function findSolana(given: Given<typeof solanaShape>, needs: Needs): Found | undefined {
  const { RPC_URL, NETWORK, USDC_MINT, HOT_ADDRESS } = given;
  if (RPC_URL === undefined) return undefined;
  return {
    problems: missing('SOLANA', { NETWORK, ...neededOf({ HOT_ADDRESS }, { ...needs, xpubs: false }) }),
    settings: () => ({
      kind: 'solana',
      chain: 'solana',
      network: present(NETWORK),
      usdcMint: USDC_MINT,
      ...settingsOfAnyKind(given, NETWORK === 'local'),
      hotAddress: HOT_ADDRESS,
    }),
  };
}

/** What a service needs of a chain beside its node. */
const neededOf = (
  { XPUB, HOT_ADDRESS }: { XPUB?: string | undefined; HOT_ADDRESS?: string | undefined },
  { xpubs, hotAddresses }: Needs,
) => ({ ...(xpubs === true && { XPUB }), ...(hotAddresses === true && { HOT_ADDRESS }) });

const settingsOfAnyKind = (given: Given<typeof ofAnyKind>, isDevelopment: boolean): OfAnyKind => ({
  rpcUrls: present(given.RPC_URL),
  startHeight: given.START_HEIGHT,
  quietMs: given.QUIET_MS ?? (isDevelopment ? DEVELOPMENT_QUIET_MS : undefined),
  explorerUrl: given.EXPLORER_URL,
});

const missing = (prefix: string, companions: Record<string, unknown>): Problem[] =>
  Object.entries(companions)
    .filter(([, value]) => value === undefined)
    .map(([name]) => ({ name: `${prefix}_${name}`, message: `is required with ${prefix}_RPC_URL` }));

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('settings are put together when nothing is missing');
  return value;
}
