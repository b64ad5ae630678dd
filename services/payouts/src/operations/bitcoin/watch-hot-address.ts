import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import type { BitcoinPorts } from '../../ports.ts';
import { insertHotUtxos } from '../../store/utxos.ts';
import { hotAddressCursor, moveHotAddressCursor } from '../../store/wallets.ts';
import { keepLease } from '../keep-lease.ts';

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
  await keepLease(ports, lease);
  const { found, upTo } =
    cursor === undefined
      ? await everything(ports)
      : await inBlocks(ports, cursor + 1, Math.min(deep, cursor + BLOCKS_PER_ROUND));
  await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await insertHotUtxos(trx, chain, sender.hotAddress, found);
    await moveHotAddressCursor(trx, chain, upTo);
  });
  if (found.length > 0) failpoint('bitcoin.hot_utxos_stored');
  if (found.length > 0) ports.logger.info({ chain, outputs: found.length }, 'the hot address received money');
}

async function everything({ sender }: BitcoinPorts) {
  const { outputs, height } = await sender.unspentOf(sender.hotAddress);
  return { found: outputs, upTo: height };
}

async function inBlocks({ sender }: BitcoinPorts, from: number, upTo: number) {
  return { found: await sender.received(sender.hotAddress, from, upTo), upTo };
}
