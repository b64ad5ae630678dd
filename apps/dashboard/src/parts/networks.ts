/** The networks by the names that the API gives them. */
export const chainNames: Readonly<Record<string, string>> = {
  bitcoin: 'Bitcoin',
  ethereum: 'Ethereum',
  solana: 'Solana',
  base: 'Base',
  polygon: 'Polygon',
};

/** The network of each asset, also of one that is not active any more. */
const chains: Readonly<Record<string, string>> = {
  BTC: 'bitcoin',
  ETH: 'ethereum',
  USDC_ERC20: 'ethereum',
  SOL: 'solana',
  USDC_SOL: 'solana',
  ETH_BASE: 'base',
  USDC_BASE: 'base',
  POL: 'polygon',
  USDC_POLYGON: 'polygon',
};

export const chainOf = (asset: string): string => chains[asset] ?? asset;

export const networkName = (asset: string): string => chainNames[chainOf(asset)] ?? asset;
