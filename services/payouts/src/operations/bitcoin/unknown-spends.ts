import type { BitcoinPorts } from '../../ports.ts';
import { spendableCoins } from '../../store-coins.ts';
import { missingCoins } from './missing-coins.ts';

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
