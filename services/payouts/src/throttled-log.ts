import type { Clock } from '@quittance/shared/clock';
import type { Logger } from '@quittance/shared/logger';

const AGAIN_AFTER_MS = 60_000;
const KEYS_MAX = 10_000;

/** Log lines about trouble that lasts: each at most once a minute, however often the trouble is met. */
export type Notices = {
  /** `key` names the trouble; the same one within a minute is not said again. */
  say(level: 'warn' | 'error', key: string, fields: object, message: string): void;
};

export function createNotices(logger: Logger, clock: Clock): Notices {
  const said = new Map<string, number>();
  return {
    say(level, key, fields, message) {
      const now = clock.now().getTime();
      if (now - (said.get(key) ?? Number.NEGATIVE_INFINITY) < AGAIN_AFTER_MS) return;
      // Troubles that are over are forgotten all at once: at worst one of them is said a little early.
      if (said.size >= KEYS_MAX) said.clear();
      said.set(key, now);
      logger[level](fields, message);
    },
  };
}
