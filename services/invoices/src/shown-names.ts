import { type AssetSymbol, assets, type Chain } from '@quittance/shared/assets';
import { formatUnits, type Units } from '@quittance/shared/money';

/** A chain as customers read it. */
export const networkOf = (chain: Chain): string => chain.charAt(0).toUpperCase() + chain.slice(1);

/** Customers know the token by its currency; the network is shown beside it. */
export const symbolOf = (symbol: string): string => symbol.split('_')[0] ?? symbol;

/** An amount with every digit, as a wallet takes it, and its currency. */
export const amountText = (asset: AssetSymbol, amount: Units): string =>
  `${formatUnits(amount, assets[asset].decimals)} ${symbolOf(asset)}`;

/** The path of a page below PUBLIC_URL, which may have a path itself. */
export const pathBelow = ({ publicUrl }: { publicUrl: string }, path: string): string =>
  `${new URL(publicUrl).pathname.replace(/\/$/, '')}${path}`;
