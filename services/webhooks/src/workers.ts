import { startWorker } from '@quittance/shared/worker';
import { type DeliveryWorker, startDeliveryWorker } from './delivery-worker.ts';
import { cancelNextWaiting } from './operations/cancel-deliveries.ts';
import { takeBackDeliveries } from './operations/claim-deliveries.ts';
import { pruneEndedSecrets, pruneOldEvents } from './operations/prune.ts';
import type { Ports } from './ports.ts';

const TAKE_BACK_EVERY_MS = 2_000;
const CANCEL_EVERY_MS = 1_000;
const PRUNE_EVERY_MS = 3_600_000;
const PRUNE_SECRETS_EVERY_MS = 60_000;

export function startWorkers(ports: Ports): DeliveryWorker {
  const { logger } = ports;
  const delivering = startDeliveryWorker(ports);
  const takingBack = startWorker({
    name: 'take back deliveries',
    everyMs: TAKE_BACK_EVERY_MS,
    step: () => takeBackDeliveries(ports),
    logger,
  });
  const cancelling = startWorker({
    name: 'cancel deliveries of disabled endpoints',
    everyMs: CANCEL_EVERY_MS,
    step: () => cancelNextWaiting(ports),
    logger,
  });
  const pruning = startWorker({
    name: 'prune events',
    everyMs: PRUNE_EVERY_MS,
    async step() {
      await pruneOldEvents(ports);
      return 0;
    },
    logger,
  });
  const pruningSecrets = startWorker({
    name: 'prune ended secrets',
    everyMs: PRUNE_SECRETS_EVERY_MS,
    step: () => pruneEndedSecrets(ports),
    logger,
  });
  return {
    wake: delivering.wake,
    async stop() {
      const others = [takingBack, cancelling, pruning, pruningSecrets];
      await Promise.all([delivering.stop(), ...others.map((worker) => worker.stop())]);
    },
  };
}
