import type { Ports } from '../ports.ts';
import { knownHotWallet } from '../store-transactions.ts';

/**
 * Why this wallet must not sign for this database, or undefined when it may: other words than those it was first
 * used with have another hot wallet, and none of the keys of the deposits made since.
 */
export async function strangeWallet({
  db,
  sender,
}: Pick<Ports, 'db' | 'sender'>): Promise<string | undefined> {
  const known = await knownHotWallet(db, sender.chain);
  if (known === undefined || known === sender.hotAddress) return undefined;
  return `WALLET_SEED belongs to the hot wallet ${sender.hotAddress}, this database was used with ${known}`;
}
