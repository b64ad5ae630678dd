import type { Chain } from '@quittance/shared/assets';
import { httpUrl, milliseconds } from '@quittance/shared/config';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';
import { bitcoinNetworks } from './bitcoin/network.ts';
import { checkAddress as checkEvmAddress, depositAddresses as evmAddresses } from './evm/wallet.ts';
import { solanaNetworkNames } from './solana/network.ts';
import { checkAddress as checkSolanaAddress } from './solana/wallet.ts';

/** One node or several, separated by commas. */
const rpcUrls = z
  .string()
  .check((context) => {
    const urls = splitUrls(context.value);
    const complain = (message: string) =>
      // Never with the value: a node's URL often holds a key.
      context.issues.push({ code: 'custom', input: undefined, message });
    if (urls.length === 0 || !urls.every((url) => httpUrl.safeParse(url).success)) {
      complain('must be an http or https URL, or several separated by commas');
    } else if (new Set(urls.map((url) => new URL(url).href)).size < urls.length) {
      complain('names the same node twice: it would always agree with itself');
    }
  })
  .transform((text) => splitUrls(text).map(toSecret));

/** In the URL of an explorer: where the hash of a transaction stands. */
export const HASH_PLACE = '{tx}';

const checkedExplorer = () =>
  httpUrl.refine((url) => url.includes(HASH_PLACE), { error: `must contain ${HASH_PLACE}` });

export const ofAnyKind = {
  RPC_URL: rpcUrls.optional().meta({
    format: 'list of URLs, secret',
    description:
      'The node, or several nodes separated by commas, of which a quorum must agree. Switches the chain on.',
  }),
  START_HEIGHT: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('The first block that is scanned. Without it, the latest block at the first start.'),
  EXPLORER_URL: checkedExplorer().optional().meta({
    format: 'URL with `{tx}`',
    description:
      'The page of a transaction in a block explorer, such as `https://mempool.space/tx/{tx}`. The default is a well-known explorer of the network; development chains and the testnet of Bitcoin have none.',
  }),
  QUIET_MS: milliseconds
    .optional()
    .describe(
      'Development chains only, 5000 there: how long after the latest block time counts as passed on a chain that produces no blocks. On a public chain leave it unset.',
    ),
};

const HOT_ADDRESS =
  'The hot wallet, from which payouts are paid, as `quittance wallet show-xpub` prints it. Required for the payouts service.';

/** The text, when `problemOf` has nothing to say about it. Its complaint never repeats a key. */
const checked = (problemOf: (text: string) => string | undefined) =>
  z.string().check((context) => {
    const message = problemOf(context.value);
    if (message !== undefined) context.issues.push({ code: 'custom', input: undefined, message });
  });

export const bitcoinShape = {
  ...ofAnyKind,
  NETWORK: z.enum(bitcoinNetworks).optional().describe('The network of the node. Required with `RPC_URL`.'),
  XPUB: z.string().optional().meta({
    format: 'extended public key',
    description:
      "The key at `m/84'/0'/0'`, on other networks than mainnet `m/84'/1'/0'`. It derives deposit addresses and cannot spend. Required for the invoices service.",
  }),
  HOT_ADDRESS: z.string().optional().meta({ format: 'address', description: HOT_ADDRESS }),
};

export const evmShape = {
  ...ofAnyKind,
  CHAIN_ID: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('The chain ID of the network. Required with `RPC_URL`.'),
  USDC_ADDRESS: checked((text) =>
    checkEvmAddress(text) === undefined ? 'must be an Ethereum address with a right checksum' : undefined,
  )
    .optional()
    .meta({
      format: 'address',
      description: 'The contract of USD Coin. Without it only the native asset can be used on this chain.',
    }),
  XPUB: checked((text) => complaintOf(() => evmAddresses(text)))
    .optional()
    .meta({
      format: 'extended public key',
      description:
        "The key at `m/44'/60'/0'`. It derives deposit addresses and cannot spend. Several of these chains may share one. Required for the invoices service.",
    }),
  HOT_ADDRESS: checked((text) =>
    checkEvmAddress(text) === undefined ? 'must be an Ethereum address with a right checksum' : undefined,
  )
    .optional()
    .meta({ format: 'address', description: `${HOT_ADDRESS} The same on all of these chains.` }),
};

export const solanaShape = {
  ...ofAnyKind,
  NETWORK: z
    .enum(solanaNetworkNames)
    .optional()
    .describe('The network of the node. Required with `RPC_URL`.'),
  USDC_MINT: checked((text) =>
    checkSolanaAddress({ name: 'local' }, text) === undefined ? 'must be the address of a mint' : undefined,
  )
    .optional()
    .meta({
      format: 'address',
      description: 'The mint of USD Coin. Without it only SOL can be used on this chain.',
    }),
  HOT_ADDRESS: checked((text) =>
    checkSolanaAddress({ name: 'local' }, text) === undefined ? 'must be an address of Solana' : undefined,
  )
    .optional()
    .meta({ format: 'address', description: HOT_ADDRESS }),
};

/** The settings of every chain, to stand beside those of a service in the object given to `withChains`. */
export const chainSettings = {
  ...prefixed('BITCOIN', bitcoinShape),
  ...prefixed('ETHEREUM', evmShape),
  ...prefixed('SOLANA', solanaShape),
  ...prefixed('BASE', evmShape),
  ...prefixed('POLYGON', evmShape),
} satisfies Record<`${Uppercase<Chain>}_RPC_URL`, z.ZodType>;

/** What `check` throws, as a text; undefined when it throws nothing. */
export function complaintOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function splitUrls(text: string): string[] {
  return text
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');
}

type Prefixed<P extends string, S> = { [K in keyof S & string as `${P}_${K}`]: S[K] };
function prefixed<P extends string, S extends z.ZodRawShape>(prefix: P, shape: S): Prefixed<P, S> {
  const entries = Object.entries(shape).map(([name, schema]) => [`${prefix}_${name}`, schema]);
  return Object.fromEntries(entries) as Prefixed<P, S>;
}

export type Given<S extends z.ZodRawShape> = z.output<z.ZodObject<S>>;
/** The settings of one chain out of those of all. */
export function withoutPrefix<S extends z.ZodRawShape>(shape: S, prefix: string, given: object): Given<S> {
  const all = new Map(Object.entries(given));
  const entries = Object.keys(shape).map((name) => [name, all.get(`${prefix}_${name}`)]);
  return Object.fromEntries(entries) as Given<S>;
}
