import { crashPoint } from '@quittance/shared/crash';
import type { InvoiceId } from '@quittance/shared/ids';
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
  watched: Pick<WatchedChain, 'chain' | 'quietMs' | 'outageMs' | 'lateMs' | 'gapMs'>,
  lease: Lease,
  at: Date,
): Promise<void> {
  const { chain, quietMs } = watched;
  // A node that hung answers late: up to now nothing was seen.
  const outage = outageEnding(await sightOf(ports.db, chain), ports.clock.now(), watched);
  if (outage !== undefined) {
    const extended = await giveTimeBack(ports, chain, lease, outage);
    if (extended > 0) ports.logger.warn({ chain, ...outage, invoices: extended }, 'the chain is seen again');
  }
  crashPoint('invoices.head_reached');
  const quietUntil = quietMs === undefined ? null : new Date(at.getTime() - quietMs);
  await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    // While time was given back the chain was seen: what that took is no outage of its own.
    await markCaughtUp(trx, chain, { at, seenAt: ports.clock.now(), quietUntil });
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
  let last: InvoiceId | null = null;
  do {
    const after: InvoiceId | null = last;
    last = await ports.db.transaction(async (trx) => {
      await assertLease(trx, lease);
      const stopped = await lockStoppedClocks(trx, chain, outage, after, BATCH);
      if (stopped.length === 0) return null;
      const longer = stopped.map((invoice) => ({ id: invoice.id, ms: extension(invoice, outage) }));
      const paidTo = await extendInvoices(trx, longer, outage.until);
      await bringUpToDate(trx, paidTo, ports);
      extended += longer.filter(({ ms }) => ms > 0).length;
      return stopped.length < BATCH ? null : (stopped.at(-1)?.id ?? null);
    });
    crashPoint('invoices.time_given_back');
  } while (last !== null);
  return extended;
}
