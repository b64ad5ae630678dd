import type { Chain, ChainKind } from '@quittance/shared/assets';
import { prolongLease, releaseLease, takeLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { startWorker } from '@quittance/shared/worker';
import { type PublishFees, publishFees } from './operations/publish-fees.ts';
import { engineLease, leaveEngine, runEngine } from './operations/run-chain-worker.ts';
import { voidStaleRequests } from './operations/void-requests.ts';
import { watchStalled } from './operations/watch-stalled.ts';
import type { PayoutChain, Ports } from './ports.ts';
import { reservedPayouts, type Stalled } from './store/payouts.ts';
import { walletsWithOpenTransactions } from './store/replacement-groups.ts';

const VOID_EVERY_MS = 500;
const FEES_EVERY_MS = 15_000;
/** Another process publishes fees well before the ledger finds the last ones too old. */
const FEES_LEASE_MS = 2 * FEES_EVERY_MS + 5_000;
/** While nothing is open, one of so many rounds asks the chain: deposits may have become worth a sweep. */
const IDLE_ROUNDS = 15;
const STALLED_EVERY_MS = 15_000;

/**
 * Starts what this service does unasked: paying and telling what that costs, with workers of their own for each chain so
 * that a node that is away delays its own chain alone, giving up requests that nobody will decide, and looking for payouts
 * that make no progress. Those are kept in `stalled`.
 */
export function startWorkers(
  ports: Ports,
  engineEveryMs: number,
  publish: PublishFees,
  stalled: Map<Chain, Stalled>,
): { stop(): Promise<void> } {
  const { logger } = ports;
  const chains = [...ports.chains.values()];
  const engines = chains.map((on) =>
    startWorker({
      name: `engine.${on.chain}`,
      everyMs: engineEveryMs,
      step: engineStep(ports, on),
      logger,
    }),
  );
  const fees = chains.map((on) =>
    startWorker({
      name: `fees.${on.chain}`,
      everyMs: FEES_EVERY_MS,
      async step() {
        await publishFeesForAll(ports, on, publish);
        return 0;
      },
      logger,
    }),
  );
  const voider = startWorker({
    name: 'voider',
    everyMs: VOID_EVERY_MS,
    step: () => voidStaleRequests(ports),
    logger,
  });
  const watcher = startWorker({
    name: 'stalled',
    everyMs: STALLED_EVERY_MS,
    async step() {
      await watchStalled(ports, stalled);
      return 0;
    },
    logger,
  });
  return {
    async stop() {
      await Promise.all([...engines, ...fees, voider, watcher].map((worker) => worker.stop()));
      await Promise.all(
        chains.map((on) =>
          leaveEngine(ports, on).catch((error: unknown) =>
            logger.warn(
              { chain: on.chain, reason: reason(error) },
              'the engine could not be handed over, its lease will run out',
            ),
          ),
        ),
      );
    },
  };
}

/** A round of the engine while something is open on its chain; otherwise the node is left in peace most of the time. */
export function engineStep<K extends ChainKind>(ports: Ports, on: PayoutChain<K>): () => Promise<number> {
  const { db, settings } = ports;
  let idleRounds = 0;
  return async () => {
    if (idleRounds > 0 && !(await hasOpen(ports, on))) {
      idleRounds -= 1;
      // Otherwise the other replicas would take it in turn, and each would ask its node.
      await prolongLease(db, engineLease(on), settings.replica, settings.leaseMs);
      return 0;
    }
    const moved = await runEngine(ports, on);
    idleRounds = moved > 0 ? 0 : IDLE_ROUNDS - 1;
    return moved;
  };
}

/** Whether a payout waits to be signed, or the end of something signed is open. */
async function hasOpen(
  { db }: Pick<Ports, 'db'>,
  { chain, sender, assets }: Pick<PayoutChain, 'chain' | 'sender' | 'assets'>,
): Promise<boolean> {
  const fromStart = new Map(assets.map((asset) => [asset, '0']));
  if ((await reservedPayouts(db, fromStart, 1)).length > 0) return true;
  return (await walletsWithOpenTransactions(db, chain, sender.hotAddress, 1)).length > 0;
}

/** One replica asks a chain's node for its fees, and publishes them for all. */
async function publishFeesForAll(ports: Ports, on: PayoutChain, publish: PublishFees): Promise<void> {
  const { db, settings } = ports;
  const lease = await takeLease(db, `fees:${on.chain}`, settings.replica, FEES_LEASE_MS);
  if (lease === undefined) return;
  let isTold = false;
  try {
    isTold = await publishFees({ ...ports, ...on }, publish);
  } finally {
    // Another process may have a node that tells.
    if (!isTold) await releaseLease(db, lease);
  }
}
