import type { ChainReader, Payment, PendingLook, PendingWatch } from '@quittance/chains/chain';
import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { ourAddresses } from '../address-filter.ts';
import { earlier } from '../domain/deposit.ts';
import type { MempoolPayment } from '../domain/mempool-payment.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { lockCursor } from '../store/cursors.ts';
import { depositsByOutpoint, setEarlierFirstSeen } from '../store/deposits.ts';
import { lockInvoices } from '../store/invoices.ts';
import { markDropped, openMempoolPayments, saveMempoolPayments } from '../store/mempool-payments.ts';
import type { ChainPorts } from './apply-blocks.ts';
import { recomputeInvoices } from './recompute-invoices.ts';

/** Addresses looked up in one query: a full mempool has a million. */
const LOOKUP_BATCH = 5_000;

type Fresh = Omit<MempoolPayment, 'droppedAt'>;

/** What a scanner keeps of the payments that wait for a block. The watch tells each of them once. */
export type MempoolState = {
  watch: PendingWatch;
  /** Told, and whose they are was not looked up yet. */
  told: { payment: Payment; seenAt: Date }[];
  /** Ours, and not written down yet. */
  unsaved: Map<string, Fresh>;
  /** Since when those that were written down were missing at every look, by outpoint. */
  missing: Map<string, Date>;
};

export const newMempoolState = (watch: NonNullable<ChainReader['watchPending']>): MempoolState => ({
  watch: watch(),
  told: [],
  unsaved: new Map(),
  missing: new Map(),
});

/** Looks at the payments that wait now, before the chain is followed: what waits no more is then in a block read after. */
export async function readMempool(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  watched: Pick<WatchedChain, 'chain' | 'filter'>,
  { watch, told, unsaved }: MempoolState,
): Promise<PendingLook> {
  const seenAt = clock.now();
  const look = await watch.look();
  for (const payment of look.fresh) told.push({ payment, seenAt });
  while (told.length > 0) {
    const some = told.slice(0, LOOKUP_BATCH);
    const addresses = new Set(some.map(({ payment }) => payment.address));
    const ours = await ourAddresses(db, watched, [...addresses]);
    // Only now: what could not be looked up is not told again.
    told.splice(0, some.length);
    for (const { payment, seenAt: firstSeenAt } of some) {
      const owner = ours.get(payment.address);
      if (owner === undefined || !hasHash(payment) || payment.amount <= 0n) continue;
      const { outpoint, txHash, outputIndex, asset, address, amount } = payment;
      const { invoiceId } = owner;
      unsaved.set(outpoint, {
        outpoint,
        invoiceId,
        asset,
        address,
        amount,
        txHash,
        outputIndex,
        firstSeenAt: unsaved.get(outpoint)?.firstSeenAt ?? firstSeenAt,
      });
    }
  }
  return look;
}

const hasHash = (payment: Payment): payment is Payment & { txHash: string } => payment.txHash !== null;

/**
 * Writes down what a look saw, once the chain was followed at least as high as it was then: payments that came, and
 * those that wait no more and are in no block. What is missing for a moment only may be a node's hiccup; but when
 * another payment of its invoice came, it was replaced, and all in one transaction, so that both never count together.
 * @returns how many came or went; undefined when the chain was not followed far enough, and the next look has to tell
 */
export async function recordMempool(
  ports: ChainPorts,
  { chain, droppedAfterMs }: Pick<WatchedChain, 'chain' | 'droppedAfterMs'>,
  lease: Lease,
  { unsaved, missing }: MempoolState,
  look: PendingLook,
): Promise<number | undefined> {
  const told = [...unsaved.values()];
  const waitedBefore = await openMempoolPayments(ports.db, chain);
  const now = ports.clock.now();
  const away = waitedBefore.filter(({ txHash }) => !look.has(txHash));
  trackMissing(missing, away, now);
  const known = new Set(waitedBefore.map(({ outpoint }) => outpoint));
  const paidAnew = new Set(
    told.flatMap(({ outpoint, invoiceId }) => (known.has(outpoint) ? [] : [invoiceId])),
  );
  const gone = away.filter(({ outpoint, invoiceId }) => {
    const since = missing.get(outpoint) ?? now;
    return paidAnew.has(invoiceId) || now.getTime() - since.getTime() >= droppedAfterMs;
  });
  const isReached = await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    if ((await lockCursor(trx, chain)).height < look.height) return false;
    if (told.length + gone.length === 0) return true;
    const touched = new Set([...told, ...gone].map(({ invoiceId }) => invoiceId));
    await lockInvoices(trx, touched);
    const deposits = await depositsByOutpoint(
      trx,
      chain,
      told.map(({ outpoint }) => outpoint),
    );
    const inChain = (fresh: Fresh) =>
      (deposits.get(fresh.outpoint) ?? []).some(({ state }) => state === 'seen' || state === 'settled');
    // One that was mined while we looked was seen before its block was.
    await setEarlierFirstSeen(trx, chain, told.filter(inChain));
    // One that lost its block was first seen when it first was.
    const come = told
      .filter((fresh) => !inChain(fresh) && look.has(fresh.txHash))
      .map((fresh) => ({
        ...fresh,
        firstSeenAt: (deposits.get(fresh.outpoint) ?? []).reduce(
          (first, deposit) => earlier(first, deposit.firstSeenAt),
          fresh.firstSeenAt,
        ),
      }));
    await saveMempoolPayments(trx, chain, come);
    await markDropped(
      trx,
      chain,
      gone.map(({ outpoint }) => outpoint),
      now,
    );
    await recomputeInvoices(trx, touched, ports);
    crashPoint('invoices.pending_written');
    return true;
  });
  if (!isReached) return undefined;
  if (told.length + gone.length > 0) crashPoint('invoices.pending_committed');
  unsaved.clear();
  return told.length + gone.length;
}

/** Since the first look that did not find them, as long as none has found them again. */
function trackMissing(missing: Map<string, Date>, away: readonly MempoolPayment[], now: Date): void {
  const outpoints = new Set(away.map(({ outpoint }) => outpoint));
  for (const outpoint of missing.keys()) if (!outpoints.has(outpoint)) missing.delete(outpoint);
  for (const outpoint of outpoints) if (!missing.has(outpoint)) missing.set(outpoint, now);
}
