import { startWorker } from '@quittance/shared/worker';
import { type DeliveryWorker, startDeliveryWorker } from './delivery-worker.ts';
import { cancelNextWaiting } from './operations/cancel-deliveries.ts';
import { takeBackDeliveries } from './operations/claim-deliveries.ts';
import { pruneEndedSecrets, pruneOldEvents } from './operations/prune.ts';
import type { Ports } from './ports.ts';

const TAKE_BACK_EVERY_MS = 2_000;
const CANCEL_EVERY_MS = 1_000;
const FORGET_EVERY_MS = 3_600_000;
const FORGET_SECRETS_EVERY_MS = 60_000;

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
    name: 'cancel what was missed',
    everyMs: CANCEL_EVERY_MS,
    step: () => cancelNextWaiting(ports),
    logger,
  });
  const forgetting = startWorker({
    name: 'forget old events',
    everyMs: FORGET_EVERY_MS,
    async step() {
      await pruneOldEvents(ports);
      return 0;
    },
    logger,
  });
  const forgettingSecrets = startWorker({
    name: 'forget ended secrets',
    everyMs: FORGET_SECRETS_EVERY_MS,
    step: () => pruneEndedSecrets(ports),
    logger,
  });
  return {
    wake: delivering.wake,
    async stop() {
      const others = [takingBack, cancelling, forgetting, forgettingSecrets];
      await Promise.all([delivering.stop(), ...others.map((worker) => worker.stop())]);
    },
  };
}
