import { join } from 'node:path';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet as openEvmWallet } from '@quittance/chains/evm/wallet';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import type { AnvilHandle } from '@quittance/engines/anvil';
import type { BitcoindHandle } from '@quittance/engines/bitcoind';
import { EngineMissing } from '@quittance/engines/installed';
import type { Engine } from '@quittance/engines/process';
import type { SurfpoolHandle } from '@quittance/engines/surfpool';
import { BITCOIN_NETWORK, prepareBitcoin } from './bitcoin.ts';
import { CHAIN_ID, prepareEthereum } from './ethereum.ts';
import type { Nodes } from './faucet.ts';
import type { Parts } from './parts.ts';
import type { Ports } from './ports.ts';
import type { ChainSettings } from './service-settings.ts';
import { prepareSolana, SOLANA_NETWORK } from './solana.ts';

/** Chains that a machine may have no node for. Ethereum's runs everywhere. */
export type OptionalChain = 'bitcoin' | 'solana';
export const optionalChains: readonly OptionalChain[] = ['bitcoin', 'solana'];

/** How fast time goes. Without a time between blocks, one comes when it is asked for. */
export type Pace = {
  ethereumBlockSeconds?: number | undefined;
  bitcoinBlockSeconds?: number | undefined;
  /** A slot is final 31 slots later. */
  solanaSlotMs: number;
};

/** As on the real networks, or a little faster, so that a person sees each step and need not wait. */
export const humanePace: Pace = { ethereumBlockSeconds: 1, bitcoinBlockSeconds: 5, solanaSlotMs: 400 };

/**
 * Balances of so many past blocks can be asked for, and so deep the chain can reorganise. Each is a copy of all accounts
 * and of the hashes of all blocks, in the node's memory and in its file: with 64 of them an afternoon of blocks took 2 GB.
 */
const PAST_STATES = 16;
/** Of a chain that a test mines: it is short, and a service that the test kills may lag by many of its blocks. */
const PAST_STATES_IN_TESTS = 256;
/** `finalized` is two epochs, eight blocks, behind the head: well within the past that can be asked for. */
const SLOTS_IN_AN_EPOCH = 4;

export type ChainNodes = {
  ethereum: AnvilHandle;
  bitcoin: BitcoindHandle | undefined;
  solana: SurfpoolHandle | undefined;
};

type Starting = {
  dir: string;
  ports: Ports;
  pace: Pace;
  parts: Pick<Parts, 'ethereum' | 'bitcoin' | 'solana'>;
  chains: readonly OptionalChain[];
  keep<E extends Engine>(engine: E): E;
  onUnexpectedExit(error: Error): void;
  say(line: string): void;
};

/** Starts a node for each chain, side by side. Where this machine can have none, the chain is left out, loudly. */
export async function startChainNodes(starting: Starting): Promise<ChainNodes> {
  const { dir, ports, pace, parts, chains, keep, onUnexpectedExit, say } = starting;
  const wanted = async <E extends Engine>(chain: OptionalChain, start: () => Promise<E>) => {
    if (!chains.includes(chain)) return undefined;
    try {
      return keep(await start());
    } catch (error) {
      if (!(error instanceof EngineMissing)) throw error;
      say(`WITHOUT ${chain.toUpperCase()}: ${error.message}. Its assets are switched off.`);
      return undefined;
    }
  };
  const [ethereum, bitcoin, solana] = await allOrNone([
    parts
      .ethereum({
        port: ports.ethereum,
        chainId: CHAIN_ID,
        statePath: join(dir, 'ethereum.json'),
        pastStates: pace.ethereumBlockSeconds === undefined ? PAST_STATES_IN_TESTS : PAST_STATES,
        slotsInAnEpoch: SLOTS_IN_AN_EPOCH,
        stateEverySeconds: 30,
        blockTimeSeconds: pace.ethereumBlockSeconds,
        mining: pace.ethereumBlockSeconds === undefined ? 'manual' : undefined,
        onUnexpectedExit,
      })
      .then(keep),
    wanted('bitcoin', () =>
      parts.bitcoin({
        port: ports.bitcoin,
        dataDir: join(dir, 'bitcoin'),
        blockEverySeconds: pace.bitcoinBlockSeconds,
        onUnexpectedExit,
      }),
    ),
    wanted('solana', () =>
      parts.solana({
        port: ports.solana,
        wsPort: ports.solanaEvents,
        slotMs: pace.solanaSlotMs,
        onUnexpectedExit,
      }),
    ),
  ]);
  return { ethereum, bitcoin, solana };
}

/** Waits for all, also when one fails: what has come up by then is known, and can be stopped. */
export async function allOrNone<const T extends readonly unknown[] | []>(
  works: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(works);
  return await Promise.all(works);
}

/** What the hot wallet should have when the Solana node's chain is new: it keeps nothing over a restart. */
export type SolanaReserves = { lamports: bigint; usdc: bigint };

/**
 * Makes the chains ready for use: faucets, test coins, and in the hot wallets what transactions are paid with.
 * @returns the nodes as sandbox.json shows them, and what the services are told of them.
 */
export async function prepareChains(
  { ethereum, bitcoin, solana }: ChainNodes,
  walletSeed: string,
  reserves: Promise<SolanaReserves>,
): Promise<{ nodes: Nodes; chainSettings: ChainSettings }> {
  const found: Omit<Nodes, 'ethereum'> = {};
  const settings = { node: {}, addresses: {}, hotWallets: {}, assets: [] as string[] };
  const [ethereumNode] = await allOrNone([
    (async () => {
      const { hotAddress, accountXpub } = openEvmWallet(walletSeed);
      const rpc = ethereum.rpcUrl;
      const usdc = await prepareEthereum(rpc, hotAddress);
      Object.assign(settings.node, {
        ETHEREUM_RPC_URL: rpc,
        ETHEREUM_CHAIN_ID: String(CHAIN_ID),
        ETHEREUM_USDC_ADDRESS: usdc,
      });
      Object.assign(settings.addresses, { ETHEREUM_XPUB: accountXpub });
      Object.assign(settings.hotWallets, { ETHEREUM_HOT_ADDRESS: hotAddress });
      return { rpc, tokens: { USDC_ERC20: usdc } };
    })(),
    (async () => {
      if (bitcoin === undefined) return;
      const { accountXpub, hotAddress } = openBitcoinWallet(BITCOIN_NETWORK, walletSeed);
      const rpc = bitcoin.rpcUrl;
      await prepareBitcoin(bitcoin, hotAddress);
      found.bitcoin = { rpc };
      Object.assign(settings.node, { BITCOIN_RPC_URL: rpc, BITCOIN_NETWORK });
      Object.assign(settings.addresses, { BITCOIN_XPUB: accountXpub });
      Object.assign(settings.hotWallets, { BITCOIN_HOT_ADDRESS: hotAddress });
    })(),
    (async () => {
      if (solana === undefined) return;
      const { hotAddress } = openSolanaWallet(walletSeed);
      const rpc = solana.rpcUrl;
      const mint = await prepareSolana(rpc, { address: hotAddress, ...(await reserves) });
      found.solana = { rpc, tokens: { USDC_SOL: mint } };
      Object.assign(settings.node, {
        SOLANA_RPC_URL: rpc,
        SOLANA_NETWORK,
        SOLANA_USDC_MINT: mint,
      });
      Object.assign(settings.hotWallets, { SOLANA_HOT_ADDRESS: hotAddress });
    })(),
  ]);
  // In the order that people know them by.
  if (found.bitcoin !== undefined) settings.assets.push('BTC');
  settings.assets.push('ETH', 'USDC_ERC20');
  if (found.solana !== undefined) settings.assets.push('SOL', 'USDC_SOL');
  return { nodes: { ethereum: ethereumNode, ...found }, chainSettings: settings };
}
