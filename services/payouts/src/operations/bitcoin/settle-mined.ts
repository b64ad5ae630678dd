import type { Trx } from '@quittance/shared/db';
import { settleCoins } from '../../store-coins.ts';
import type { Transaction } from '../../store-transactions.ts';
import { readTerms } from './terms.ts';

/** What the attempt that ended a family, or ends it now, means for the coins of all of them. */
export async function settleMined(trx: Trx, { family, txHash, terms }: Transaction): Promise<void> {
  const spends = readTerms(terms).coins.map(({ outpoint }) => outpoint);
  await settleCoins(trx, family, { txHash, spends });
}
