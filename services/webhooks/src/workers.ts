import { startWorker } from '@quittance/shared/worker';
import { type DeliveryWorker, startDeliveryWorker } from './delivery-worker.ts';
import { startMailWorker } from './mail-worker.ts';
import { cancelNextWaiting } from './operations/cancel-deliveries.ts';
import { takeBackDeliveries } from './operations/claim-deliveries.ts';
import { pruneEndedSecrets, pruneOldEvents, pruneOldMails } from './operations/prune.ts';
import type { Ports } from './ports.ts';

const TAKE_BACK_EVERY_MS = 2_000;
const CANCEL_EVERY_MS = 1_000;
const PRUNE_EVERY_MS = 3_600_000;
const PRUNE_SECRETS_EVERY_MS = 60_000;

export function startWorkers(ports: Ports, claimEveryMs?: number): DeliveryWorker {
  const delivering = startDeliveryWorker(ports, claimEveryMs);
  const others = [
    { name: 'take back deliveries', everyMs: TAKE_BACK_EVERY_MS, step: () => takeBackDeliveries(ports) },
    {
      name: 'cancel deliveries of disabled endpoints',
      everyMs: CANCEL_EVERY_MS,
      step: () => cancelNextWaiting(ports),
    },
    { name: 'prune events', everyMs: PRUNE_EVERY_MS, step: () => pruneOldEvents(ports).then(() => 0) },
    { name: 'prune mails', everyMs: PRUNE_EVERY_MS, step: () => pruneOldMails(ports).then(() => 0) },
    { name: 'prune ended secrets', everyMs: PRUNE_SECRETS_EVERY_MS, step: () => pruneEndedSecrets(ports) },
  ].map((worker) => startWorker({ ...worker, logger: ports.logger }));
  const mailing = startMailWorker(ports);
  return {
    wake: delivering.wake,
    async stop() {
      await Promise.all([delivering, mailing, ...others].map((worker) => worker.stop()));
    },
  };
}
