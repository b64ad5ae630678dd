import type { Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import type { BitcoinPorts } from '../../ports.ts';
import { freeCoins } from '../../store-coins.ts';
import { type Family, noteDoubt } from '../../store-transactions.ts';
import { buryFamily } from '../bury-family.ts';
import { keepLease } from '../keep-lease.ts';
import { type Conflict, findConflict } from './find-conflict.ts';
import { readTerms } from './terms.ts';

/**
 * Ends a family of which no node has anything, when it is proved that nothing of it can ever be mined: another
 * transaction that spends one of the coins all its attempts share, or that coin's own coins, is as deep in the chain as
 * a payment has to be, and no less than six blocks. Nothing else is a proof: not a refusal, not an eviction, however long it lasts.
 */
export async function buryConflicted(ports: BitcoinPorts, lease: Lease, family: Family): Promise<boolean> {
  const { db, clock, settings, notices, logger } = ports;
  const [first] = family;
  try {
    const shared = readTerms(first.terms).coins.map(({ outpoint }) => outpoint);
    const found = await ports.sender.unspent(shared);
    const gone = shared.filter((_, i) => found[i] === undefined);
    if (gone.length === 0) {
      if (first.doubtedAt !== null) await noteDoubt(db, first.id, null);
      return false;
    }
    if (first.doubtedAt === null) {
      await noteDoubt(db, first.id, clock.now());
      const said = { transaction: first.txHash, outpoints: gone };
      logger.error(said, 'coins of a transaction that is in no block are not in the chain');
      return false;
    }
    // What is missing may be missing on a node that is late, or come back with the next block.
    if (clock.now().getTime() - first.doubtedAt.getTime() < settings.patience.doubtForMs) return false;
    await keepLease(ports, lease);
    const conflict = await findConflict(ports, family, gone);
    if (conflict === undefined) {
      const said = { transaction: first.txHash, outpoints: gone };
      const trouble = 'coins of a transaction are gone and nothing proves that it is dead: it stays open';
      notices.say('error', `lost.${first.id}`, said, trouble);
      return false;
    }
    return await bury(ports, lease, family, conflict);
  } catch (error) {
    const said = { transaction: first.txHash, reason: reason(error) };
    notices.say(
      'warn',
      `conflict.${first.id}`,
      said,
      'what became of a transaction’s coins could not be found',
    );
    return false;
  }
}

async function bury(
  ports: BitcoinPorts,
  lease: Lease,
  [first]: Family,
  { coin, by }: Conflict,
): Promise<boolean> {
  const said = { transaction: first.txHash, coin, by: by.txHash, height: by.height, spends: by.outpoint };
  ports.logger.error(said, 'another transaction spent the coin of one of ours for good');
  return buryFamily(ports, lease, first, (trx) => freeCoins(trx, first.family, coin));
}
