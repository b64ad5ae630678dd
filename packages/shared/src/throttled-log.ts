import { performance } from 'node:perf_hooks';
import type { Logger } from './logger.ts';

const REPEATED_AFTER_MS = 60_000;
const KEYS_MAX = 10_000;

/** Log lines about conditions that last: each is logged at once, and at most once a minute while it lasts. */
export type ThrottledLog = {
  /** `key` names the condition. A line that follows suppressed ones counts them in `times`. */
  log(level: 'warn' | 'error', key: string, fields: object, message: string): void;
  /** Logs that the condition has ended, if it was logged. When it comes back it is logged at once. */
  ended(key: string, fields: object, message: string): void;
};

/** @param nowMs a clock that only goes forward, unless a test gives another one */
export function throttledLog(logger: Logger, nowMs: () => number = () => performance.now()): ThrottledLog {
  const logged = new Map<string, { atMs: number; suppressed: number }>();
  return {
    log(level, key, fields, message) {
      const now = nowMs();
      const last = logged.get(key);
      if (last !== undefined && now - last.atMs < REPEATED_AFTER_MS) {
        last.suppressed += 1;
        return;
      }
      // All are forgotten at once: at worst a line is repeated early.
      if (logged.size >= KEYS_MAX) logged.clear();
      logged.set(key, { atMs: now, suppressed: 0 });
      const times = (last?.suppressed ?? 0) + 1;
      logger[level](times === 1 ? fields : { ...fields, times }, message);
    },
    ended(key, fields, message) {
      const last = logged.get(key);
      if (last === undefined) return;
      logged.delete(key);
      const { suppressed } = last;
      logger.info(suppressed === 0 ? fields : { ...fields, suppressed }, message);
    },
  };
}
