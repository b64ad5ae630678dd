import { reason } from '@quittance/shared/logger';
import { startWorker } from '@quittance/shared/worker';
import { leaveEngine } from './operations/leave-engine.ts';
import { type PublishFees, publishFees } from './operations/publish-fees.ts';
import { runEngine } from './operations/run-engine.ts';
import { voidStaleRequests } from './operations/void-stale-requests.ts';
import type { Ports } from './ports.ts';

const VOID_EVERY_MS = 500;
const FEES_EVERY_MS = 15_000;

/**
 * Starts what this service does unasked: paying and telling what that costs, with workers of their own for each chain so
 * that a node that is away delays its own chain alone, and giving up requests that nobody will decide.
 */
export function startWorkers(
  ports: Ports,
  engineEveryMs: number,
  publish: PublishFees,
): { stop(): Promise<void> } {
  const { logger } = ports;
  const chains = [...ports.chains.values()];
  const engines = chains.map((on) =>
    startWorker({
      name: `engine.${on.chain}`,
      everyMs: engineEveryMs,
      step: () => runEngine(ports, on),
      logger,
    }),
  );
  const fees = chains.map((on) =>
    startWorker({
      name: `fees.${on.chain}`,
      everyMs: FEES_EVERY_MS,
      async step() {
        await publishFees({ ...ports, ...on }, publish);
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
  return {
    async stop() {
      await Promise.all([...engines, ...fees, voider].map((worker) => worker.stop()));
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
