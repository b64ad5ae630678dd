import { type AssetSymbol, assets, type ChainOf, nativeAsset } from '@quittance/shared/assets';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { LacksToken, WrongNetwork } from '../chain.ts';
import { ask, type Rpc, RpcRefused, read } from '../json-rpc.ts';
import { bytes, units256 } from './rpc.ts';

export type EvmChain = ChainOf<'evm'>;

/** The network an operator says to be on. */
export type EvmNetwork = {
  chain: EvmChain;
  chainId: number;
  /** Undefined when this installation takes no tokens. */
  usdcAddress?: string | undefined;
};

/** USD Coin, under the name of each network's own asset. */
const usdcOf = {
  ethereum: 'USDC_ERC20',
  base: 'USDC_BASE',
  polygon: 'USDC_POLYGON',
} as const satisfies Record<EvmChain, AssetSymbol>;

const abi = parseAbi(['function decimals() view returns (uint8)']);

/** The allow-list: tokens by canonical contract address. */
export function tokensOf({ chain, usdcAddress }: EvmNetwork): Map<string, AssetSymbol> {
  return new Map(usdcAddress === undefined ? [] : [[usdcAddress.toLowerCase(), usdcOf[chain]]]);
}

/** The contract of a token; undefined for the native asset. Throws for an asset this network does not have. */
export function contractOf(network: EvmNetwork, asset: AssetSymbol): string | undefined {
  if (asset === nativeAsset[network.chain]) return undefined;
  for (const [address, symbol] of tokensOf(network)) if (symbol === asset) return address;
  throw new Error(`${asset} is not an asset of ${network.chain}, or its contract is not configured`);
}

/** Throws WrongNetwork when the node or, unless the network alone is asked for, the token is not what was configured. */
export async function checkNetwork(rpc: Rpc, network: EvmNetwork, of?: 'network'): Promise<void> {
  const chainId = await ask(rpc, units256, 'eth_chainId', []);
  if (chainId !== BigInt(network.chainId)) {
    throw new WrongNetwork(`the node is on chain ${chainId}, configured is ${network.chainId}`);
  }
  if (of === 'network') return;
  for (const [address, asset] of tokensOf(network)) await checkToken(rpc, address, asset);
}

async function checkToken(rpc: Rpc, address: string, asset: AssetSymbol): Promise<void> {
  const data = encodeFunctionData({ abi, functionName: 'decimals' });
  const [code, decimals] = await rpc.batch([
    { method: 'eth_getCode', params: [address, 'latest'] },
    { method: 'eth_call', params: [{ to: address, data }, 'latest'] },
  ]);
  if (read(bytes, code, 'eth_getCode') === '0x') {
    throw new LacksToken(`there is no contract at ${address}, configured as ${asset}`);
  }
  const wanted = assets[asset].decimals;
  // A contract that has no such function reverts, or answers with nothing.
  const found = decimals instanceof RpcRefused ? '0x' : read(bytes, decimals, 'eth_call');
  if (!/^0x0{62}[0-9a-f]{2}$/i.test(found) || BigInt(found) !== BigInt(wanted)) {
    throw new WrongNetwork(`the contract at ${address} is not ${asset}: it does not have ${wanted} decimals`);
  }
}
