import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { getMintDecoder, getMintSize } from '@solana-program/token';
import { WrongNetwork } from '../chain.ts';
import { ask, type Rpc } from '../json-rpc.ts';
import { accountOf } from './accounts.ts';
import { base58, TOKEN_PROGRAM } from './rpc.ts';

/** The networks by the hash of their first block; `local` is any other: a development node's. */
const genesisHashes = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKqc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY',
  local: undefined,
} as const;

export type SolanaNetworkName = keyof typeof genesisHashes;
export const solanaNetworkNames = Object.keys(genesisHashes) as [SolanaNetworkName, ...SolanaNetworkName[]];

/** The network an operator says to be on. */
export type SolanaNetwork = {
  name: SolanaNetworkName;
  /** Undefined when this installation takes no tokens. */
  usdcMint?: string | undefined;
};

/** The allow-list: tokens by mint. Only mints of the Token program: those of Token-2022 may take a fee on the way. */
export function tokensOf({ usdcMint }: SolanaNetwork): Map<string, AssetSymbol> {
  return new Map(usdcMint === undefined ? [] : [[usdcMint, 'USDC_SOL']]);
}

/** The mint of a token; undefined for the native asset. Throws for an asset this network does not have. */
export function mintOf(network: SolanaNetwork, asset: AssetSymbol): string | undefined {
  if (asset === 'SOL') return undefined;
  for (const [mint, symbol] of tokensOf(network)) if (symbol === asset) return mint;
  throw new Error(`${asset} is not an asset of this network`);
}

/** Throws WrongNetwork when the node or, unless the network alone is asked for, the token is not what was configured. */
export async function checkNetwork(rpc: Rpc, network: SolanaNetwork, of?: 'network'): Promise<void> {
  const found = await ask(rpc, base58, 'getGenesisHash', []);
  const name = solanaNetworkNames.find((known) => genesisHashes[known] === found) ?? 'local';
  if (name !== network.name) {
    throw new WrongNetwork(`the node is on ${name} (genesis hash ${found}), configured is ${network.name}`);
  }
  if (of === 'network') return;
  for (const [mint, asset] of tokensOf(network)) await checkMint(rpc, mint, asset);
}

async function checkMint(rpc: Rpc, mint: string, asset: AssetSymbol): Promise<void> {
  const account = await accountOf(rpc, mint);
  if (account === undefined) throw new WrongNetwork(`there is no mint at ${mint}, configured as ${asset}`);
  const { data, owner } = account;
  const isMint = owner === TOKEN_PROGRAM && data.length === getMintSize();
  const found = isMint ? getMintDecoder().decode(data) : undefined;
  if (found === undefined || !found.isInitialized)
    throw new WrongNetwork(`${mint}, configured as ${asset}, is no mint of the Token program`);
  const wanted = assets[asset].decimals;
  if (found.decimals !== wanted)
    throw new WrongNetwork(`the mint ${mint} is not ${asset}: it does not have ${wanted} decimals`);
}
