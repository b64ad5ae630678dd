import { type Logger, reason } from '@quittance/shared/logger';
import type { Attempt } from './operations/attempt-delivery.ts';

const RECORD_MAX = 500;
/** How many attempts of a failed batch are recorded one by one in a step, before newer attempts. */
const ALONE_AT_ONCE = 50;
/** The pause after an attempt that could not be recorded. */
const AGAIN_AFTER_MS = 1_000;

/** Holds attempts that have ended and are not recorded yet. */
export type AttemptWriter = {
  readonly size: number;
  add(attempt: Attempt): void;
  /** Records the next attempts and returns them. Throws when a whole batch could not be recorded. */
  step(): Promise<Attempt[]>;
};

/**
 * Records attempts in batches. When a batch fails, its attempts are recorded one by one, so that one bad attempt does not
 * block the others. A bad attempt is retried until it is recorded, or until this process ends and another sends it again.
 * @param now a monotonic clock in milliseconds
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
