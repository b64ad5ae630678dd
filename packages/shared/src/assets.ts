/** The facts of an asset that never change; what an operator or a market changes is its quote (quotes.ts). */
export type AssetFacts = {
  id: number;
  name: string;
  symbol: string;
  chain: Chain;
  type: 'native' | 'token';
  /** Digits after the point of one whole asset; amounts are stored as integers of 10^-decimals. */
  decimals: number;
};

export const chains = ['bitcoin', 'ethereum', 'solana'] as const;
export type Chain = (typeof chains)[number];

export const assets = {
  BTC: { id: 1, name: 'Bitcoin', symbol: 'BTC', chain: 'bitcoin', type: 'native', decimals: 8 },
  ETH: { id: 2, name: 'Ethereum', symbol: 'ETH', chain: 'ethereum', type: 'native', decimals: 18 },
  SOL: { id: 3, name: 'Solana', symbol: 'SOL', chain: 'solana', type: 'native', decimals: 9 },
  USDC_ERC20: {
    id: 4,
    name: 'USD Coin (ERC-20)',
    symbol: 'USDC_ERC20',
    chain: 'ethereum',
    type: 'token',
    decimals: 6,
  },
} as const satisfies Record<string, AssetFacts>;

export type AssetSymbol = keyof typeof assets;

export const assetSymbols = Object.keys(assets) as [AssetSymbol, ...AssetSymbol[]];

export const isAssetSymbol = (text: string): text is AssetSymbol => Object.hasOwn(assets, text);

/** The asset a chain's fees are paid in. */
export const nativeAsset = {
  bitcoin: 'BTC',
  ethereum: 'ETH',
  solana: 'SOL',
} as const satisfies Record<Chain, AssetSymbol>;
