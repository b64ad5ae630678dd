import type { BitcoinPorts } from '../../ports.ts';
import { type StoredUtxo, spendableUtxos, stillSpendable } from '../../store/utxos.ts';

/** UTXOs that the database has and the chain does not: spent, or dropped with their block. */
export type MissingUtxos = { spent: StoredUtxo[]; absent: StoredUtxo[] };

/**
 * Which of the UTXOs the chain does not have unspent. The database is read again afterwards: another replica may have
 * spent one in between, and stored that first.
 */
export async function missingUtxos(
  { db, chain, sender }: Pick<BitcoinPorts, 'db' | 'chain' | 'sender'>,
  utxos: readonly StoredUtxo[],
): Promise<MissingUtxos> {
  const found = await sender.unspent(utxos.map(({ outpoint }) => outpoint));
  const notFound = utxos.filter((utxo, i) => found[i]?.amount !== utxo.amount);
  const missing: MissingUtxos = { spent: [], absent: [] };
  if (notFound.length === 0) return missing;
  const free = await stillSpendable(db, chain, notFound);
  for (const utxo of notFound) {
    if (!free.has(utxo.outpoint)) continue;
    const [txHash = ''] = utxo.outpoint.split(':');
    const { state } = await sender.status(txHash);
    if (state === 'mined') missing.spent.push(utxo);
    else missing.absent.push(utxo);
  }
  return missing;
}

/** How many UTXOs are checked before each round: the largest, which are spent first. */
const UTXOS_MAX = 200;

/**
 * Why nothing may be signed: a UTXO that is available in the database was spent in the chain. Either the database has
 * lost commits, and payouts that look unpaid are paid, or another party has the keys.
 */
export async function unknownSpends(
  ports: Pick<BitcoinPorts, 'db' | 'chain' | 'sender'>,
): Promise<string | undefined> {
  const utxos = await spendableUtxos(ports.db, ports.chain, UTXOS_MAX);
  const {
    spent: [utxo],
  } = await missingUtxos(ports, utxos);
  if (utxo === undefined) return undefined;
  return `the chain has transactions of this wallet that this database does not know (one spends ${utxo.outpoint}): nothing is signed until an operator decides`;
}
