import type { ChainKind } from '@quittance/shared/assets';
import { prolongLease, releaseLease, takeLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { publishFeeEstimates } from '@quittance/shared/quotes';
import type { Stoppable } from '@quittance/shared/start-service';
import { startWorker } from '@quittance/shared/worker';
import { endRefunds } from './operations/claim-refund.ts';
import { finishStaleBatches } from './operations/finish-payout-batch.ts';
import { publishFees } from './operations/publish-fees.ts';
import { voidStaleRequests } from './operations/request-payout.ts';
import { runAutomaticPayouts } from './operations/run-automatic-payouts.ts';
import { chainLease, handOverChain, runChainWorker } from './operations/run-chain-worker.ts';
import { watchStalled } from './operations/watch-stalled.ts';
import type { PayoutChain, Ports } from './ports.ts';
import { cancelRequests } from './store/cancellations.ts';
import { oldestReserved } from './store/payouts.ts';
import { walletsWithOpenTransactions } from './store/replacement-groups.ts';
import { hasPlan } from './store/signing-plans.ts';

const VOID_EVERY_MS = 500;
const AUTOMATIC_EVERY_MS = 5_000;
const REFUNDS_EVERY_MS = 5_000;
const FEES_EVERY_MS = 15_000;
/** Another replica publishes fees before the last ones expire in the ledger. */
const FEES_LEASE_MS = 2 * FEES_EVERY_MS + 5_000;
/** While nothing is open, one round of this many asks the chain: a deposit may have become economical to sweep. */
const IDLE_ROUNDS = 15;
const STALLED_EVERY_MS = 15_000;

/**
 * Each chain has a chain worker and a worker that publishes its fees, so that a node that is down delays only its own
 * chain. One worker voids undecided requests, one ends claim links, one runs automatic payouts, and one finds payouts without
 * progress.
 */
export function startWorkers(ports: Ports): Stoppable {
  const { logger, settings } = ports;
  const chains = [...ports.chains.values()];
  const start = (name: string, everyMs: number, step: () => Promise<number>) =>
    startWorker({ name, everyMs, step, logger });
  const workers = [
    ...chains.map((on) =>
      start(`chain-worker.${on.chain}`, settings.chainWorkerEveryMs, chainWorkerStep(ports, on)),
    ),
    ...chains.map((on) =>
      start(
        `fees.${on.chain}`,
        FEES_EVERY_MS,
        timed(() => publishFeesForAll(ports, on)),
      ),
    ),
    start('voider', VOID_EVERY_MS, async () => {
      const voided = await voidStaleRequests(ports);
      await finishStaleBatches(ports);
      return voided;
    }),
    start('refunds', REFUNDS_EVERY_MS, () => endRefunds(ports)),
    start('automatic-payouts', AUTOMATIC_EVERY_MS, () => runAutomaticPayouts(ports)),
    start(
      'stalled',
      STALLED_EVERY_MS,
      timed(() => watchStalled(ports)),
    ),
  ];
  const handOver = (on: PayoutChain) =>
    handOverChain(ports, on).catch((error: unknown) =>
      logger.warn(
        { chain: on.chain, reason: reason(error) },
        'the lease of the chain worker could not be released, another replica takes over when it expires',
      ),
    );
  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await Promise.all(chains.map(handOver));
    },
  };
}

/** A step that is not repeated before its time. */
const timed = (step: () => Promise<void>) => () => step().then(() => 0);

/** Runs a round of the chain worker while something is open on its chain, otherwise only one of IDLE_ROUNDS. */
export function chainWorkerStep<K extends ChainKind>(
  ports: Ports,
  on: PayoutChain<K>,
): () => Promise<number> {
  const { db, settings } = ports;
  let idleRounds = 0;
  return async () => {
    if (idleRounds > 0 && !(await hasOpen(ports, on))) {
      idleRounds -= 1;
      // Otherwise other replicas would take the lease, and each would ask its node.
      await prolongLease(db, chainLease(on), settings.replica, settings.leaseMs);
      return 0;
    }
    const moved = await runChainWorker(ports, on);
    idleRounds = moved > 0 ? 0 : IDLE_ROUNDS - 1;
    return moved;
  };
}

/** Whether a payout waits to be signed or to be cancelled, or a transaction is open. */
async function hasOpen(
  { db }: Ports,
  { chain, sender, assets }: Pick<PayoutChain, 'chain' | 'sender' | 'assets'>,
): Promise<boolean> {
  if (await hasPlan(db, chain)) return true;
  if ((await oldestReserved(db, assets, 1)).length > 0) return true;
  if ((await cancelRequests(db, assets, 1)).length > 0) return true;
  return (await walletsWithOpenTransactions(db, chain, sender.hotAddress, 1)).length > 0;
}

/** One replica publishes the fees of a chain for all. */
async function publishFeesForAll(ports: Ports, on: PayoutChain): Promise<void> {
  const { db, bus, settings } = ports;
  const lease = await takeLease(db, `fees:${on.chain}`, settings.replica, FEES_LEASE_MS);
  if (lease === undefined) return;
  let isPublished = false;
  try {
    isPublished = await publishFees({ ...ports, ...on }, (estimates) => publishFeeEstimates(bus, estimates));
  } finally {
    // The node of another replica may answer.
    if (!isPublished) await releaseLease(db, lease);
  }
}
