import { WrongNetwork } from '@quittance/chains/chain';
import { remedyOf } from '@quittance/chains/network-check';
import { type Lease, LeaseLost, releaseLease, takeLease, withLease } from '@quittance/shared/lease';
import { reason, throttledLog } from '@quittance/shared/logger';
import type { Stoppable } from '@quittance/shared/start-service';
import { startWorker } from '@quittance/shared/worker';
import { refillAddressPool } from './address-pool.ts';
import { checkBalances } from './operations/check-balances.ts';
import { compareKeys } from './operations/compare-keys.ts';
import { expireInvoices } from './operations/expire-invoices.ts';
import { expireUnchosen } from './operations/expire-unchosen.ts';
import { recomputeOverdueInvoices } from './operations/recompute-invoices.ts';
import { rescanChain } from './operations/rescan-chain.ts';
import { resolveContradictions } from './operations/resolve-contradictions.ts';
import { markSynced, scanChain } from './operations/scan-chain.ts';
import { type MempoolState, newMempoolState, readMempool, recordMempool } from './operations/scan-mempool.ts';
import type { Ports, WatchedChain } from './ports.ts';
import { isPaymentAwaited, pruneIdempotencyKeys } from './store/invoices.ts';

const PRUNE_EVERY_MS = 3_600_000;
const PRUNE_BATCH = 500;
const REFILL_EVERY_MS = 1_000;
/** How soon a replica learns what another one was answered. */
const KEYS_CHECKED_EVERY_MS = 1_000;

/** The scanner of a chain. One replica scans a chain at a time: each step renews its lease. */
export function createScanner(
  ports: Ports,
  watched: WatchedChain,
): { step(): Promise<number>; leave(): Promise<void> } {
  const { db, clock, logger, wakeRelay } = ports;
  const { chain } = watched;
  const { replica, leaseMs, scanEveryMs, scanIdleEveryMs } = ports.settings;
  // Half of what counts as an outage, so that one look that is late is none.
  const idleMs = Math.min(scanIdleEveryMs, watched.outageMs / 2);
  const failed = (error: unknown) =>
    logger.warn({ reason: reason(error) }, 'the lease of a chain’s scanner could not be renewed');
  const networks = throttledLog(logger);
  const watch = watched.reader.watchPending?.bind(watched.reader);
  let lease: Lease | undefined;
  let isReady = false;
  let isNear = false;
  let memory: MempoolState | undefined;
  /** When the step began that has last found the chain synced and nothing left to do; undefined: look again. */
  let syncedAt: Date | undefined;

  /** Applies new blocks. When synced, also records mempool payments, contract-sent money and payments of a rescan. */
  async function follow(held: Lease): Promise<number> {
    const startedAt = clock.now();
    // Far below the head, the mempool says nothing about the blocks that are applied.
    if (watch !== undefined && isNear) memory ??= newMempoolState(watch);
    const look = memory && (await readMempool(ports, watched, memory));
    const { taken, isAtHead, isRescanAsked } = await scanChain(ports, watched, held);
    isNear = isAtHead;
    if (!isAtHead) return taken;
    if (watch !== undefined) {
      if (memory === undefined || look === undefined) return taken + 1;
      const pending = await recordMempool(ports, watched, held, memory, look);
      if (pending === undefined) return taken;
      if (pending > 0) wakeRelay();
      // An unread mempool payment may be in time: the chain is not synced until the whole mempool is read.
      if (look.isComplete === false) return taken + 1;
    }
    await markSynced(ports, watched, held, startedAt);
    const ended = await resolveContradictions(ports, watched, held);
    const found = await checkBalances(ports, watched, held);
    // A rescan takes one batch of blocks per step.
    if (isRescanAsked === true) await rescanChain(ports, watched, held);
    // What is done in batches goes on in the next step.
    else if (ended + found === 0) syncedAt = startedAt;
    return taken + ended + found;
  }

  /** A node counts every call: while nobody waits for a payment, it is asked less often. */
  async function mayRest(): Promise<boolean> {
    if (syncedAt === undefined || idleMs <= scanEveryMs) return false;
    const sinceMs = clock.now().getTime() - syncedAt.getTime();
    // A clock that was set back says nothing.
    if (sinceMs < 0 || sinceMs >= idleMs) return false;
    return !(await isPaymentAwaited(db, chain));
  }

  return {
    async step() {
      const held = await takeLease(db, `scanner.${chain}`, replica, leaseMs);
      // Another replica held the lease in between and has recorded the mempool.
      if (held?.token !== lease?.token) memory = syncedAt = undefined;
      lease = held;
      if (held === undefined || (await mayRest())) return 0;
      syncedAt = undefined;
      try {
        const done = await withLease({ db, clock, failed }, held, async () => {
          // No block is read before the node's network is verified.
          if (!isReady) await watched.network.check();
          // Loading a million addresses takes seconds and must not run inside the transaction of the first block.
          if (!isReady) await watched.filter.among(db, []);
          isReady = true;
          networks.ended('network', { chain }, 'the node is on the right network again');
          const followed = await follow(held);
          // Last, so that invoices with very many payments delay neither blocks nor expiry.
          const recomputed = await recomputeOverdueInvoices(ports, watched);
          if (recomputed > 0) syncedAt = undefined;
          return followed + recomputed;
        });
        if (done > 0) wakeRelay();
        return done;
      } catch (error) {
        syncedAt = undefined;
        // Reading the whole mempool takes minutes, so a short outage of a node or the database keeps what was read.
        if (error instanceof LeaseLost) memory = undefined;
        // While the node was down, nothing shows that a payment was dropped.
        memory?.missing.clear();
        if (!(error instanceof WrongNetwork)) throw error;
        // Asked again before anything else, and for its tokens too.
        isReady = false;
        const message = `nothing is read from this node, no payment is seen: ${remedyOf(chain)}`;
        networks.log('error', 'network', { chain, reason: reason(error) }, message);
        return 0;
      }
    },
    async leave() {
      if (lease !== undefined) await releaseLease(db, lease);
    },
  };
}

/** Starts the background work: scanning chains, expiring invoices, refilling address pools, checking keys, pruning. */
export function startWorkers(ports: Ports): Stoppable {
  const { db, clock, logger } = ports;
  const { scanEveryMs } = ports.settings;
  const start = (name: string, everyMs: number, step: () => Promise<number>) =>
    startWorker({ name, everyMs, step, logger });
  const workers = [
    start('old answers', PRUNE_EVERY_MS, () => pruneIdempotencyKeys(db, clock.now(), PRUNE_BATCH)),
  ];
  workers.push(
    start('expiry before a choice', scanEveryMs, async () => {
      const expired = await expireUnchosen(ports);
      if (expired > 0) ports.wakeRelay();
      return expired;
    }),
  );
  const scanners: ReturnType<typeof createScanner>[] = [];
  for (const watched of ports.chains.values()) {
    const { chain, storedPool, keys } = watched;
    const scanner = createScanner(ports, watched);
    scanners.push(scanner);
    workers.push(start(`scanner ${chain}`, scanEveryMs, scanner.step));
    workers.push(
      start(`expiry ${chain}`, scanEveryMs, async () => {
        const expired = await expireInvoices(ports, watched);
        if (expired > 0) ports.wakeRelay();
        return expired;
      }),
    );
    if (storedPool !== undefined) {
      const refill = () => refillAddressPool(ports, chain, storedPool);
      workers.push(start(`address pool ${chain}`, REFILL_EVERY_MS, refill));
    }
    if (keys !== undefined) {
      workers.push(start(`keys ${chain}`, KEYS_CHECKED_EVERY_MS, () => compareKeys(ports, chain, keys)));
    }
  }
  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      for (const scanner of scanners) {
        await scanner.leave().catch((error: unknown) => {
          logger.warn(
            { reason: reason(error) },
            'the lease of a scanner could not be released: another replica takes over when it ends',
          );
        });
      }
    },
  };
}
