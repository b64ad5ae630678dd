import { startWorker, type Worker } from '@quittance/shared/worker';
import { stepAudit } from './operations/check-books.ts';
import { resendHalts } from './operations/halts.ts';
import type { Ports } from './ports.ts';

/** How often a step looks whether a check is due. */
const STEP_EVERY_MS = 1_000;

export function startWorkers(ports: Ports): Pick<Worker, 'stop'> {
  return startWorker({
    name: 'audit',
    everyMs: Math.min(STEP_EVERY_MS, ports.settings.checkEveryMs),
    step: async () => {
      await resendHalts(ports);
      return await stepAudit(ports);
    },
    logger: ports.logger,
  });
}
