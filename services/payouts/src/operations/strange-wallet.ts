import type { ChainPorts } from '../ports.ts';
import { otherHotWallet } from '../store-wallets.ts';

/**
 * Why this wallet must not sign for this database, or undefined when it may: other words than those it was first
 * used with have another hot wallet, and none of the keys of the deposits made since.
 */
export async function strangeWallet({
  db,
  chain,
  sender,
}: Pick<ChainPorts, 'db' | 'chain' | 'sender'>): Promise<string | undefined> {
  const other = await otherHotWallet(db, chain, sender.hotAddress);
  if (other === undefined) return undefined;
  return `WALLET_SEED belongs to the hot wallet ${sender.hotAddress}, this database was used with ${other}`;
}
