import type { BitcoinPorts } from '../../ports.ts';
import { type Coin, stillSpendable } from '../../store-coins.ts';

/** Coins that the books call ours and the chain does not have: spent by somebody, or never there (any more). */
export type Missing = { spent: Coin[]; absent: Coin[] };

/**
 * Which of the coins the chain does not have unspent. The books are asked again afterwards: another process may have
 * spent one meanwhile, and had stored that first.
 */
export async function missingCoins(
  { db, chain, sender }: Pick<BitcoinPorts, 'db' | 'chain' | 'sender'>,
  coins: readonly Coin[],
): Promise<Missing> {
  const found = await sender.unspent(coins.map(({ outpoint }) => outpoint));
  const gone = coins.filter((coin, i) => found[i]?.amount !== coin.amount);
  const missing: Missing = { spent: [], absent: [] };
  if (gone.length === 0) return missing;
  const free = await stillSpendable(db, chain, gone);
  for (const coin of gone) {
    if (!free.has(coin.outpoint)) continue;
    const [txHash = ''] = coin.outpoint.split(':');
    const { state } = await sender.status(txHash);
    if (state === 'mined') missing.spent.push(coin);
    else missing.absent.push(coin);
  }
  return missing;
}
