import type { ChainSender } from '@quittance/chains/chain';
import type { Chain, ChainKind } from '@quittance/shared/assets';
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
import { hasUnsentTransactions, walletsWithOpenTransactions } from './store/replacement-groups.ts';
import { hasPlan } from './store/signing-plans.ts';
import { hasUnswept } from './store/unswept-deposits.ts';

const VOID_EVERY_MS = 500;
const AUTOMATIC_EVERY_MS = 5_000;
const REFUNDS_EVERY_MS = 5_000;
const FEES_EVERY_MS = 15_000;
/** Another replica publishes fees before the last ones expire in the ledger. */
const FEES_LEASE_MS = 2 * FEES_EVERY_MS + 5_000;
/**
 * While only this is open, one round of so many asks the chain: a block would not tell all, a deposit may have become economical
 * to sweep, and somebody else may have used the keys.
 */
const IDLE_ROUNDS = { 'a block': 15, 'a deposit': 15, nothing: 30 } as const;
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

/**
 * Runs a round of the chain worker while a payout waits, or a transaction was not accepted by any node; while transactions are
 * sent, when there is a new block; otherwise one of IDLE_ROUNDS.
 */
export function chainWorkerStep<K extends ChainKind>(
  ports: Ports,
  on: PayoutChain<K>,
): () => Promise<number> {
  /** Since the last that asked the chain; undefined before the first, and after one that has moved something. */
  let idleRounds: number | undefined;
  /** The newest one before the last round; undefined where it was not asked for. */
  let block: string | undefined;
  return async () => {
    const { db, settings } = ports;
    let newest: string | undefined;
    const waiting = idleRounds === undefined ? 'a round' : await waitingOn(ports, on);
    if (idleRounds !== undefined && waiting !== 'a round' && ++idleRounds < IDLE_ROUNDS[waiting]) {
      // Otherwise other replicas would take the lease, and each would ask its node.
      const leads = await prolongLease(db, chainLease(on), settings.replica, settings.leaseMs);
      if (waiting === 'a block' && leads) newest = await newestBlock(ports, on);
      if (waiting !== 'a block' || (newest !== undefined && newest === block)) return 0;
    }
    const moved = await runChainWorker(ports, on);
    block = newest;
    idleRounds = moved > 0 ? undefined : 0;
    return moved;
  };
}

/** What is open on a chain: something to sign, to cancel or to send, or only what waits for a block or for lower fees. */
async function waitingOn(
  { db }: Ports,
  { chain, sender, assets }: Pick<PayoutChain, 'chain' | 'sender' | 'assets'>,
): Promise<'a round' | keyof typeof IDLE_ROUNDS> {
  if (await hasPlan(db, chain)) return 'a round';
  if ((await oldestReserved(db, assets, 1)).length > 0) return 'a round';
  if ((await cancelRequests(db, assets, 1)).length > 0) return 'a round';
  if ((await walletsWithOpenTransactions(db, chain, sender.hotAddress, 1)).length === 0)
    return (await hasUnswept(db, chain)) ? 'a deposit' : 'nothing';
  return (await hasUnsentTransactions(db, chain)) ? 'a round' : 'a block';
}

/** Undefined where the chain names none, and while the node does not tell: the round says why. */
async function newestBlock(
  { throttledLog }: Ports,
  { chain, sender }: { chain: Chain; sender: Pick<ChainSender, 'newestBlock'> },
): Promise<string | undefined> {
  try {
    return await sender.newestBlock?.();
  } catch (error) {
    const fields = { chain, reason: reason(error) };
    throttledLog.log('warn', `newest_block.${chain}`, fields, 'the node does not tell its newest block');
    return undefined;
  }
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
