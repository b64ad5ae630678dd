import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease, renewLease } from '@quittance/shared/lease';
import type { BitcoinPorts } from '../../ports.ts';
import { insertHotUtxos, type StoredUtxo, spendableUtxos, stillSpendable } from '../../store/utxos.ts';
import { hotAddressCursor, moveHotAddressCursor } from '../../store/wallets.ts';

/** UTXOs that the database has and the chain does not: spent, or dropped with their block. */
type MissingUtxos = { spent: StoredUtxo[]; absent: StoredUtxo[] };

/**
 * Which of the UTXOs the chain does not have unspent. The database is read again afterwards: another replica may have
 * spent one in between, and stored that first.
 */
export async function missingUtxos(
  { db, chain, sender }: BitcoinPorts,
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
export async function unknownSpends(ports: BitcoinPorts): Promise<string | undefined> {
  const { spent } = await missingUtxos(ports, await spendableUtxos(ports.db, ports.chain, UTXOS_MAX));
  const [utxo] = spent;
  if (utxo === undefined) return undefined;
  return `the chain has transactions of this wallet that this database does not know (one spends ${utxo.outpoint}): nothing is signed until an operator decides`;
}

/** Money of the operator is spent only at a depth that reorganisations do not reach. */
const CONFIRMATIONS = 6;
const BLOCKS_PER_ROUND = 20;

/**
 * Finds money that operators sent to the hot address: all unspent outputs in the first round, then block by block. An
 * output that a reorganisation drops is found missing before it is spent.
 */
export async function watchHotAddress(ports: BitcoinPorts, lease: Lease): Promise<void> {
  const { db, chain, sender } = ports;
  const deep = (await sender.height()) - CONFIRMATIONS + 1;
  const cursor = await hotAddressCursor(db, chain);
  if (cursor !== undefined && cursor >= deep) return;
  await renewLease(ports.db, lease);
  const { found, upTo } = await findHotUtxos(ports, cursor, deep);
  const received = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await moveHotAddressCursor(trx, chain, upTo);
    return await insertHotUtxos(trx, chain, sender.hotAddress, found);
  });
  if (received === 0) return;
  failpoint('bitcoin.hot_utxos_stored');
  ports.logger.info({ chain, outputs: received }, 'the hot address received money');
}

async function findHotUtxos({ sender }: BitcoinPorts, cursor: number | undefined, deep: number) {
  const { hotAddress } = sender;
  if (cursor === undefined) {
    const { outputs, height } = await sender.unspentOf(hotAddress);
    return { found: outputs, upTo: height };
  }
  const upTo = Math.min(deep, cursor + BLOCKS_PER_ROUND);
  return { found: await sender.received(hotAddress, cursor + 1, upTo), upTo };
}
