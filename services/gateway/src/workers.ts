import { startWorker, type Worker } from '@quittance/shared/worker';
import { deleteOldFailedRequests, writeFailedRequests } from './operations/failed-requests.ts';
import { deleteExpiredChallenges } from './operations/passkeys.ts';
import { endStreamsOfEnded, meetTokens, writeTokenUses } from './operations/token-upkeep.ts';
import type { Ports } from './ports.ts';

const USES_EVERY_MS = 5_000;
const MEET_EVERY_MS = 60_000;
const CHALLENGES_EVERY_MS = 60_000;
/** A crash loses what was noted since. */
const REQUESTS_EVERY_MS = 1_000;
const OLD_REQUESTS_EVERY_MS = 3_600_000;
/** The streams of a revoked or expired token, or of an ended session, end within this time, and that of one statement: a second in all. */
const STREAMS_EVERY_MS = 500;

export function startWorkers(ports: Ports): Worker[] {
  const { logger } = ports;
  return [
    startWorker({ name: 'token uses', everyMs: USES_EVERY_MS, logger, step: () => writeTokenUses(ports) }),
    startWorker({ name: 'tokens in use', everyMs: MEET_EVERY_MS, logger, step: () => meetTokens(ports) }),
    startWorker({
      name: 'expired challenges',
      everyMs: CHALLENGES_EVERY_MS,
      logger,
      step: () => deleteExpiredChallenges(ports),
    }),
    startWorker({
      name: 'failed requests',
      everyMs: REQUESTS_EVERY_MS,
      logger,
      step: () => writeFailedRequests(ports),
    }),
    startWorker({
      name: 'old failed requests',
      everyMs: OLD_REQUESTS_EVERY_MS,
      logger,
      step: () => deleteOldFailedRequests(ports),
    }),
  ];
}

/** Runs from the first request on, before the database is migrated: streams are served then too. */
export const watchStreams = (ports: Ports): Worker =>
  startWorker({
    name: 'ends of streams',
    everyMs: STREAMS_EVERY_MS,
    logger: ports.logger,
    step: () => endStreamsOfEnded(ports),
  });
