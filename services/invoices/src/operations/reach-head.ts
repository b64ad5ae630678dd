import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { extension, type Outage, outageEnding } from '../domain/outage.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { extendInvoices, lockStoppedClocks } from '../store.ts';
import { markCaughtUp, sightOf } from '../store-chain.ts';
import { bringUpToDate } from './bring-up-to-date.ts';
import type { MovingPorts } from './move-chain.ts';

/** Invoices that are given their time back in one transaction. */
const BATCH = 500;

/**
 * The node's head was reached by a step that began `at`: what is known of payments grows up to then. If that took
 * long, the invoices are given the time first in which nobody could see their payments; until then none expires.
 */
export async function reachHead(
  ports: MovingPorts & Pick<Ports, 'logger'>,
  watched: Pick<WatchedChain, 'chain' | 'quietMs' | 'outageMs' | 'lateMs' | 'staleMs'>,
  lease: Lease,
  at: Date,
): Promise<void> {
  const { chain, quietMs } = watched;
  // A node that hung answers late: up to then nothing was seen.
  const seenAt = ports.clock.now();
  const outage = outageEnding(await sightOf(ports.db, chain), seenAt, watched);
  if (outage !== undefined) {
    const extended = await giveTimeBack(ports, chain, lease, outage);
    if (extended > 0) ports.logger.warn({ chain, ...outage, invoices: extended }, 'the chain is seen again');
  }
  crashPoint('invoices.head_reached');
  const quietUntil = quietMs === undefined ? null : new Date(at.getTime() - quietMs);
  await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await markCaughtUp(trx, chain, { at, seenAt, quietUntil });
  });
}

/** Batch by batch; who dies in between leaves the rest to the next, and nobody is given an hour twice. */
async function giveTimeBack(
  ports: MovingPorts,
  chain: WatchedChain['chain'],
  lease: Lease,
  outage: Outage,
): Promise<number> {
  let extended = 0;
  for (;;) {
    const reckoned = await ports.db.transaction(async (trx) => {
      await assertLease(trx, lease);
      const stopped = await lockStoppedClocks(trx, chain, outage, BATCH);
      if (stopped.length === 0) return 0;
      const longer = stopped.map((invoice) => ({ id: invoice.id, ms: extension(invoice, outage) }));
      const paidTo = await extendInvoices(trx, longer, outage.until);
      await bringUpToDate(trx, paidTo, ports);
      extended += longer.filter(({ ms }) => ms > 0).length;
      return stopped.length;
    });
    crashPoint('invoices.time_given_back');
    if (reckoned < BATCH) return extended;
  }
}
