import type { ChainReader, Payment, PendingLook, PendingWatch } from '@quittance/chains/chain';
import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { earlier } from '../domain/deposit.ts';
import type { Sighting } from '../domain/sighting.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { lockInvoices } from '../store.ts';
import { lockCursor, ourAddresses } from '../store-chain.ts';
import { depositsByOutpoint, sightDeposits } from '../store-deposits.ts';
import { markGone, saveSightings, waitingSightings } from '../store-sightings.ts';
import { bringUpToDate } from './bring-up-to-date.ts';
import type { MovingPorts } from './move-chain.ts';

/** Addresses looked up in one query: a full mempool has a million. */
const LOOKED_UP_AT_ONCE = 5_000;

type Fresh = Omit<Sighting, 'goneAt'>;

/**
 * What a scanner keeps of the payments that wait for a block. The watch tells each of them once, so that whoever could
 * not write one down forgets all of it and begins anew.
 */
export type PendingMemory = { watch: PendingWatch; untaken: Map<string, Fresh> };

export const newPendingMemory = (watch: NonNullable<ChainReader['watchPending']>): PendingMemory => ({
  watch: watch(),
  untaken: new Map(),
});

/** Looks at the payments that wait now, before the chain is followed: what waits no more is then in a block read after. */
export async function lookAtPending(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  watched: Pick<WatchedChain, 'chain' | 'filter'>,
  { watch, untaken }: PendingMemory,
): Promise<PendingLook> {
  const firstSeenAt = clock.now();
  const look = await watch.look();
  for (let start = 0; start < look.fresh.length; start += LOOKED_UP_AT_ONCE) {
    const some = look.fresh.slice(start, start + LOOKED_UP_AT_ONCE);
    const ours = await ourAddresses(db, watched, [...new Set(some.map(({ address }) => address))]);
    for (const payment of some) {
      const owner = ours.get(payment.address);
      if (owner === undefined || !hasHash(payment) || payment.amount <= 0n) continue;
      const { outpoint, txHash, outputIndex, asset, address, amount } = payment;
      const { invoiceId } = owner;
      untaken.set(outpoint, {
        outpoint,
        invoiceId,
        asset,
        address,
        amount,
        txHash,
        outputIndex,
        firstSeenAt: untaken.get(outpoint)?.firstSeenAt ?? firstSeenAt,
      });
    }
  }
  return look;
}

const hasHash = (payment: Payment): payment is Payment & { txHash: string } => payment.txHash !== null;

/**
 * Writes down what a look saw, once the chain was followed at least as high as it was then: payments that came, and
 * those that wait no more and are in no block. All in one transaction, so that a payment and the one that replaces it
 * never count together.
 * @returns how many came or went; undefined when the chain was not followed far enough, and the next look has to tell
 */
export async function takePending(
  ports: MovingPorts,
  { chain }: Pick<WatchedChain, 'chain'>,
  lease: Lease,
  { untaken }: PendingMemory,
  look: PendingLook,
): Promise<number | undefined> {
  const told = [...untaken.values()];
  const waitedBefore = await waitingSightings(ports.db, chain);
  const gone = waitedBefore.filter(({ txHash }) => !look.has(txHash));
  const isReached = await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    if ((await lockCursor(trx, chain)).height < look.height) return false;
    if (told.length + gone.length === 0) return true;
    const touched = new Set([...told, ...gone].map(({ invoiceId }) => invoiceId));
    await lockInvoices(trx, touched);
    const known = await depositsByOutpoint(
      trx,
      chain,
      told.map(({ outpoint }) => outpoint),
    );
    const inChain = (fresh: Fresh) =>
      (known.get(fresh.outpoint) ?? []).some(({ state }) => state === 'seen' || state === 'settled');
    // One that was mined while we looked was seen before its block was.
    await sightDeposits(trx, chain, told.filter(inChain));
    // One that lost its block was first seen when it first was.
    const come = told
      .filter((fresh) => !inChain(fresh) && look.has(fresh.txHash))
      .map((fresh) => ({
        ...fresh,
        firstSeenAt: (known.get(fresh.outpoint) ?? []).reduce(
          (first, deposit) => earlier(first, deposit.firstSeenAt),
          fresh.firstSeenAt,
        ),
      }));
    await saveSightings(trx, chain, come);
    await markGone(
      trx,
      chain,
      gone.map(({ outpoint }) => outpoint),
      ports.clock.now(),
    );
    await bringUpToDate(trx, touched, ports);
    crashPoint('invoices.pending_written');
    return true;
  });
  if (!isReached) return undefined;
  untaken.clear();
  return told.length + gone.length;
}
