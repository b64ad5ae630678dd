/** The facts of an asset that never change; what an operator or a market changes is its quote (quotes.ts). */
type AssetFacts = {
  id: number;
  name: string;
  chain: Chain;
  type: 'native' | 'token';
  /** Digits after the point of one whole asset; amounts are stored as integers of 10^-decimals. */
  decimals: number;
};

/** The networks money moves on, and how each works: what is said of a kind holds for all its networks. */
export const chainKinds = {
  bitcoin: 'bitcoin',
  ethereum: 'evm',
  solana: 'solana',
  base: 'evm',
  polygon: 'evm',
} as const satisfies Record<string, 'bitcoin' | 'evm' | 'solana'>;

export type Chain = keyof typeof chainKinds;
export type ChainKind = (typeof chainKinds)[Chain];
export type ChainOf<K extends ChainKind> = {
  [C in Chain]: (typeof chainKinds)[C] extends K ? C : never;
}[Chain];

export const chains = Object.keys(chainKinds) as [Chain, ...Chain[]];

const facts = {
  BTC: { id: 1, name: 'Bitcoin', chain: 'bitcoin', type: 'native', decimals: 8 },
  ETH: { id: 2, name: 'Ethereum', chain: 'ethereum', type: 'native', decimals: 18 },
  SOL: { id: 3, name: 'Solana', chain: 'solana', type: 'native', decimals: 9 },
  USDC_ERC20: { id: 4, name: 'USD Coin (ERC-20)', chain: 'ethereum', type: 'token', decimals: 6 },
  USDC_SOL: { id: 5, name: 'USD Coin (Solana)', chain: 'solana', type: 'token', decimals: 6 },
  ETH_BASE: { id: 6, name: 'Ether (Base)', chain: 'base', type: 'native', decimals: 18 },
  USDC_BASE: { id: 7, name: 'USD Coin (Base)', chain: 'base', type: 'token', decimals: 6 },
  POL: { id: 8, name: 'Polygon', chain: 'polygon', type: 'native', decimals: 18 },
  USDC_POLYGON: { id: 9, name: 'USD Coin (Polygon)', chain: 'polygon', type: 'token', decimals: 6 },
} as const satisfies Record<string, AssetFacts>;

export type AssetSymbol = keyof typeof facts;

/** Each asset with its symbol. */
export const assets = Object.fromEntries(
  Object.entries(facts).map(([symbol, asset]) => [symbol, { symbol, ...asset }]),
) as { readonly [S in AssetSymbol]: (typeof facts)[S] & { readonly symbol: S } };

export const assetSymbols = Object.keys(facts) as [AssetSymbol, ...AssetSymbol[]];

export const isAssetSymbol = (text: string): text is AssetSymbol => Object.hasOwn(assets, text);

/** The asset a chain's fees are paid in. */
export const nativeAsset = {
  bitcoin: 'BTC',
  ethereum: 'ETH',
  solana: 'SOL',
  base: 'ETH_BASE',
  polygon: 'POL',
} as const satisfies Record<Chain, AssetSymbol>;

export const assetsOf = (chain: Chain): AssetSymbol[] =>
  assetSymbols.filter((symbol) => assets[symbol].chain === chain);

/** The contract's reduced asset object. */
export function reducedAsset(asset: AssetSymbol) {
  const { id, symbol, name, decimals } = assets[asset];
  return { id, symbol, name, decimals };
}
