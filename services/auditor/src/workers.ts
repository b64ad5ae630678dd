import { startWorker, type Worker } from '@quittance/shared/worker';
import { insistOnHalts } from './operations/insist-on-halts.ts';
import { stepAudit } from './operations/step-audit.ts';
import type { Ports } from './ports.ts';

/** How often it is asked whether it is time. */
const ASK_EVERY_MS = 1_000;

export function startWorkers(ports: Ports): Pick<Worker, 'stop'> {
  return startWorker({
    name: 'audit',
    everyMs: Math.min(ASK_EVERY_MS, ports.settings.checkEveryMs),
    step: async () => {
      await insistOnHalts(ports);
      return await stepAudit(ports);
    },
    logger: ports.logger,
  });
}
