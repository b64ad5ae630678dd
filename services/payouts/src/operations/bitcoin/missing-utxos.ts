import type { BitcoinPorts } from '../../ports.ts';
import { type Coin, spendableCoins, stillSpendable } from '../../store/utxos.ts';

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

/** As many as are asked about before each round: the largest, which are spent first. */
const COINS_MAX = 200;

/**
 * Why nothing may be signed, or undefined: a coin that is free in the books was spent in the chain. Either the
 * database has lost commits, and payouts that look unpaid are paid, or somebody else has the keys.
 */
export async function unknownSpends(
  ports: Pick<BitcoinPorts, 'db' | 'chain' | 'sender'>,
): Promise<string | undefined> {
  const coins = await spendableCoins(ports.db, ports.chain, COINS_MAX);
  const {
    spent: [coin],
  } = await missingCoins(ports, coins);
  if (coin === undefined) return undefined;
  return `the chain has transactions of this wallet that this database does not know (one spends ${coin.outpoint}): nothing is signed until an operator decides`;
}
