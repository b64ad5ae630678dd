import { reason } from '@quittance/shared/logger';
import { startWorker } from '@quittance/shared/worker';
import { leaveEngine } from './operations/leave-engine.ts';
import { runEngine } from './operations/run-engine.ts';
import { voidStaleRequests } from './operations/void-stale-requests.ts';
import type { Ports } from './ports.ts';

const VOID_EVERY_MS = 2_000;

/** Starts what this service does unasked: paying, and giving up requests that nobody will decide. */
export function startWorkers(ports: Ports, engineEveryMs: number): { stop(): Promise<void> } {
  const { logger } = ports;
  const engine = startWorker({
    name: 'engine',
    everyMs: engineEveryMs,
    step: () => runEngine(ports),
    logger,
  });
  const voider = startWorker({
    name: 'voider',
    everyMs: VOID_EVERY_MS,
    step: () => voidStaleRequests(ports),
    logger,
  });
  return {
    async stop() {
      await Promise.all([engine.stop(), voider.stop()]);
      await leaveEngine(ports).catch((error: unknown) =>
        logger.warn({ reason: reason(error) }, 'the engine could not be handed over, its lease will run out'),
      );
    },
  };
}
