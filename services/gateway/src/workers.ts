import { startWorker, type Worker } from '@quittance/shared/worker';
import { meetTokens } from './operations/meet-tokens.ts';
import { writeTokenUses } from './operations/write-token-uses.ts';
import type { Ports } from './ports.ts';

const USES_EVERY_MS = 5_000;
const MEET_EVERY_MS = 60_000;

export function startWorkers(ports: Ports): Worker[] {
  const { logger } = ports;
  return [
    startWorker({ name: 'token uses', everyMs: USES_EVERY_MS, logger, step: () => writeTokenUses(ports) }),
    startWorker({ name: 'tokens in use', everyMs: MEET_EVERY_MS, logger, step: () => meetTokens(ports) }),
  ];
}
