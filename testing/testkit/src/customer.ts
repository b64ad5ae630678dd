import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { parseUnits, type Units } from '@quittance/shared/money';

/** Somebody with money on a chain for development, who can also decide when blocks come. */
export type Customer = {
  /** Sends `amount` (decimal text) to an address; where blocks do not come by themselves, it waits for one. */
  pay(asset: AssetSymbol, to: string, amount: string): Promise<string>;
  /** An address that nobody has used yet. */
  newAddress(): Promise<string>;
  /** More blocks; on Solana, where they come by themselves, as many slots later. */
  mine(blocks?: number): Promise<void>;
  /** What an address has, in blocks. */
  balance(asset: AssetSymbol, address: string): Promise<bigint>;
  /** Transactions in blocks that pay to an address, the oldest first. */
  transactions(address: string): Promise<string[]>;
};

/** Several payments in one transaction. */
export type Payments = readonly { asset: AssetSymbol; to: string; amount: string }[];

export function unitsOf(asset: AssetSymbol, text: string): Units {
  const parsed = parseUnits(text, assets[asset].decimals);
  if (!parsed.ok) throw new Error(`${text} is no amount of ${asset}`);
  return parsed.value;
}
