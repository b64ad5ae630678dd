import type { BitcoinPorts } from '../../ports.ts';
import { spendableUtxos, stillSpendable, type Utxo } from '../../store/utxos.ts';

/** UTXOs that the database calls ours and the chain does not have: spent, or dropped with their block. */
export type MissingUtxos = { spent: Utxo[]; absent: Utxo[] };

/**
 * Which of the UTXOs the chain does not have unspent. The books are asked again afterwards: another process may have
 * spent one meanwhile, and had stored that first.
 */
export async function missingUtxos(
  { db, chain, sender }: Pick<BitcoinPorts, 'db' | 'chain' | 'sender'>,
  utxos: readonly Utxo[],
): Promise<MissingUtxos> {
  const found = await sender.unspent(utxos.map(({ outpoint }) => outpoint));
  const gone = utxos.filter((utxo, i) => found[i]?.amount !== utxo.amount);
  const missing: MissingUtxos = { spent: [], absent: [] };
  if (gone.length === 0) return missing;
  const free = await stillSpendable(db, chain, gone);
  for (const utxo of gone) {
    if (!free.has(utxo.outpoint)) continue;
    const [txHash = ''] = utxo.outpoint.split(':');
    const { state } = await sender.status(txHash);
    if (state === 'mined') missing.spent.push(utxo);
    else missing.absent.push(utxo);
  }
  return missing;
}

/** As many as are asked about before each round: the largest, which are spent first. */
const UTXOS_MAX = 200;

/**
 * Why nothing may be signed, or undefined: a UTXO that is free in the database was spent in the chain. Either the
 * database has lost commits, and payouts that look unpaid are paid, or another party has the keys.
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
