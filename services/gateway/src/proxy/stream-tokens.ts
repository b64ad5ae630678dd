import type { Db } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import { startWorker, type Worker } from '@quittance/shared/worker';
import { endedTokens } from '../store/tokens.ts';
import type { OpenStreams } from './proxy-response.ts';

/** A revoked or expired token's streams end within so long, and the time of one statement. */
const LOOK_EVERY_MS = 2_000;

/**
 * Ends streams whose token was revoked or has expired since they began: a request is judged once, when it comes, and a
 * stream goes on for minutes. One statement for all that are open. While the database is away they go on, until the service
 * that writes them ends them after ten minutes at most.
 */
export const watchStreamTokens = (
  { db, logger }: { db: Db; logger: Logger },
  streams: Pick<OpenStreams, 'tokens' | 'endOf'>,
): Worker =>
  startWorker({
    name: 'tokens of streams',
    everyMs: LOOK_EVERY_MS,
    logger,
    async step() {
      const open = streams.tokens();
      if (open.length > 0) streams.endOf(new Set(await endedTokens(db, open)));
      return 0;
    },
  });
