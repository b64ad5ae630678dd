import type { ChainReader, Payment, PendingLook, PendingWatch } from '@quittance/chains/chain';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { ourAddresses } from '../address-filter.ts';
import { earlier, isInBlock } from '../domain/deposit.ts';
import type { MempoolPayment } from '../domain/mempool-payment.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { findCursor, lockCursor } from '../store/cursors.ts';
import { depositsByOutpoint, setEarlierFirstSeen } from '../store/deposits.ts';
import { lockInvoices } from '../store/invoices.ts';
import { markDropped, openMempoolPayments, saveMempoolPayments } from '../store/mempool-payments.ts';
import type { BlockPorts } from './apply-blocks.ts';
import { recomputeInvoices } from './recompute-invoices.ts';

/** Addresses per query: a full mempool has a million. */
const LOOKUP_BATCH = 5_000;

type Fresh = Omit<MempoolPayment, 'droppedAt'>;

/** What a scanner keeps of the mempool between its steps. The node reports each payment once. */
export type MempoolState = {
  watch: PendingWatch;
  /** Reported by the node; their owners are not looked up yet. */
  reported: { payment: Payment; seenAt: Date }[];
  /** Payments to our addresses that are not saved yet, by outpoint. */
  unsaved: Map<string, Fresh>;
  /** Saved payments that the mempool lacks, by outpoint, with the time since when. */
  missing: Map<string, Date>;
};

export const newMempoolState = (watch: NonNullable<ChainReader['watchPending']>): MempoolState => ({
  watch: watch(),
  reported: [],
  unsaved: new Map(),
  missing: new Map(),
});

/** Reads the mempool before new blocks are applied: a payment that has left it is then in one of those blocks. */
export async function readMempool(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  watched: Pick<WatchedChain, 'chain' | 'filter'>,
  { watch, reported, unsaved }: MempoolState,
): Promise<PendingLook> {
  const seenAt = clock.now();
  const read = await watch.look();
  for (const payment of read.fresh) reported.push({ payment, seenAt });
  while (reported.length > 0) {
    const some = reported.slice(0, LOOKUP_BATCH);
    const addresses = new Set(some.map(({ payment }) => payment.address));
    const ours = await ourAddresses(db, watched, [...addresses]);
    // Removed only after the query succeeded: the node does not report them again.
    reported.splice(0, some.length);
    for (const { payment, seenAt: firstSeenAt } of some) {
      const owner = ours.get(payment.address);
      if (owner === undefined || !hasHash(payment) || payment.amount <= 0n) continue;
      const { outpoint, txHash, outputIndex, asset, address, amount } = payment;
      const seen = { outpoint, invoiceId: owner.invoiceId, asset, address, amount, txHash, outputIndex };
      unsaved.set(outpoint, { ...seen, firstSeenAt: unsaved.get(outpoint)?.firstSeenAt ?? firstSeenAt });
    }
  }
  return read;
}

const hasHash = (payment: Payment): payment is Payment & { txHash: string } => payment.txHash !== null;

/**
 * Saves what the mempool had, once the chain is applied to the height of that time: new payments, and dropped ones
 * that are in no block. A short absence may be an error of the node. When another payment to the same invoice
 * appears, the absent one was replaced; both changes share a transaction, so that they never count together.
 * @returns how many changed; undefined when the chain is not applied far enough, and the mempool must be read again
 */
export async function recordMempool(
  ports: BlockPorts,
  { chain, droppedAfterMs }: Pick<WatchedChain, 'chain' | 'droppedAfterMs'>,
  lease: Lease,
  { unsaved, missing }: MempoolState,
  read: PendingLook,
): Promise<number | undefined> {
  const seen = [...unsaved.values()];
  const waitedBefore = await openMempoolPayments(ports.db, chain);
  const now = ports.clock.now();
  const away = waitedBefore.filter(({ txHash }) => !read.has(txHash));
  trackMissing(missing, away, now);
  const known = new Set(waitedBefore.map(({ outpoint }) => outpoint));
  const newlyPaid = new Set(
    seen.flatMap(({ outpoint, invoiceId }) => (known.has(outpoint) ? [] : [invoiceId])),
  );
  const dropped = away.filter(({ outpoint, invoiceId }) => {
    const since = missing.get(outpoint) ?? now;
    return newlyPaid.has(invoiceId) || now.getTime() - since.getTime() >= droppedAfterMs;
  });
  // Nothing to write is by far the most frequent case, several times a second: it needs no transaction.
  if (seen.length + dropped.length === 0) {
    const cursor = await findCursor(ports.db, chain);
    return cursor === undefined || cursor.height < read.height ? undefined : 0;
  }
  const isReached = await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    if ((await lockCursor(trx, chain)).height < read.height) return false;
    const touched = new Set([...seen, ...dropped].map(({ invoiceId }) => invoiceId));
    await lockInvoices(trx, touched);
    const outpoints = seen.map(({ outpoint }) => outpoint);
    const deposits = await depositsByOutpoint(trx, chain, outpoints);
    const inChain = (fresh: Fresh) => (deposits.get(fresh.outpoint) ?? []).some(isInBlock);
    // A payment that was mined during the read was seen before its block.
    await setEarlierFirstSeen(trx, chain, seen.filter(inChain));
    // A payment that lost its block keeps its first time.
    const arrived = seen
      .filter((fresh) => !inChain(fresh) && read.has(fresh.txHash))
      .map((fresh) => ({
        ...fresh,
        firstSeenAt: (deposits.get(fresh.outpoint) ?? []).reduce(
          (first, deposit) => earlier(first, deposit.firstSeenAt),
          fresh.firstSeenAt,
        ),
      }));
    await saveMempoolPayments(trx, chain, arrived);
    const droppedOutpoints = dropped.map(({ outpoint }) => outpoint);
    await markDropped(trx, chain, droppedOutpoints, now);
    await recomputeInvoices(trx, touched, ports);
    failpoint('invoices.pending_written');
    return true;
  });
  if (!isReached) return undefined;
  failpoint('invoices.pending_committed');
  unsaved.clear();
  return seen.length + dropped.length;
}

/** Keeps the time of the first read that missed a payment, until a read finds it again. */
function trackMissing(missing: Map<string, Date>, away: readonly MempoolPayment[], now: Date): void {
  const outpoints = new Set(away.map(({ outpoint }) => outpoint));
  for (const outpoint of missing.keys()) if (!outpoints.has(outpoint)) missing.delete(outpoint);
  for (const outpoint of outpoints) if (!missing.has(outpoint)) missing.set(outpoint, now);
}
