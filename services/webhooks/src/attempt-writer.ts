import { type Logger, reason } from '@quittance/shared/logger';
import type { Attempt } from './operations/attempt-delivery.ts';

const RECORD_MAX = 500;
/** How many of a batch that failed are recorded one by one before what has ended since. */
const ALONE_AT_ONCE = 50;
/** What cannot be recorded is tried again no sooner. */
const AGAIN_AFTER_MS = 1_000;

/** Attempts that have ended and are not recorded yet. */
export type AttemptWriter = {
  readonly size: number;
  add(attempt: Attempt): void;
  /** Records the next ones and answers which they were; throws when a whole batch could not be recorded. */
  step(): Promise<Attempt[]>;
};

/**
 * Records in batches. Those of a batch that fails are recorded one by one, so that one which cannot be recorded holds up
 * nobody else; it is tried again until it can be, or this process ends and another sends it again.
 * @param now milliseconds that only grow
 */
export function createAttemptWriter(
  record: (attempts: readonly Attempt[]) => Promise<void>,
  logger: Logger,
  now: () => number = () => performance.now(),
): AttemptWriter {
  const ended: Attempt[] = [];
  const alone: Attempt[] = [];
  let aloneFrom = -Infinity;

  async function stepAlone(): Promise<Attempt[]> {
    const recorded: Attempt[] = [];
    while (recorded.length < ALONE_AT_ONCE && now() >= aloneFrom) {
      const attempt = alone.shift();
      if (attempt === undefined) break;
      try {
        await record([attempt]);
        recorded.push(attempt);
      } catch (error) {
        alone.push(attempt);
        aloneFrom = now() + AGAIN_AFTER_MS;
        logger.error(
          { event: attempt.delivery.id, reason: reason(error) },
          'an attempt could not be recorded',
        );
      }
    }
    return recorded;
  }

  async function stepTogether(): Promise<Attempt[]> {
    const batch = ended.splice(0, RECORD_MAX);
    if (batch.length === 0) return [];
    try {
      await record(batch);
      return batch;
    } catch (error) {
      alone.push(...batch);
      throw error;
    }
  }

  return {
    get size() {
      return ended.length + alone.length;
    },
    add(attempt) {
      ended.push(attempt);
    },
    async step() {
      const recorded = await stepAlone();
      return recorded.length > 0 ? recorded : await stepTogether();
    },
  };
}
