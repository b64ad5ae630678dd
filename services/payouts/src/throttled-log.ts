import type { Clock } from '@quittance/shared/clock';
import type { Logger } from '@quittance/shared/logger';

const AGAIN_AFTER_MS = 60_000;
const KEYS_MAX = 10_000;

/** Log lines about message that lasts: each at most once a minute, however often the message is met. */
export type ThrottledLog = {
  /** `key` names the message; the same one within a minute is not details again. */
  log(level: 'warn' | 'error', key: string, fields: object, message: string): void;
};

export function createThrottledLog(logger: Logger, clock: Clock): ThrottledLog {
  const details = new Map<string, number>();
  return {
    log(level, key, fields, message) {
      const now = clock.now().getTime();
      if (now - (details.get(key) ?? Number.NEGATIVE_INFINITY) < AGAIN_AFTER_MS) return;
      // Troubles that are over are forgotten all at once: at worst one of them is details a little early.
      if (details.size >= KEYS_MAX) details.clear();
      details.set(key, now);
      logger[level](fields, message);
    },
  };
}
