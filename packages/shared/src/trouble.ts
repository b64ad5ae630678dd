import { performance } from 'node:perf_hooks';
import type { Logger } from './logger.ts';

const REMINDS_EVERY_MS = 60_000;

/** Something that goes wrong, again and again perhaps, until it goes well once more. */
export type Trouble = {
  /** Said at once when it begins; while it lasts once a minute, and then with how often it was met since. */
  met(about: object): void;
  /** Said when there was any. */
  over(): void;
};

export type TroubleWords = {
  level: 'warn' | 'error';
  begins: string;
  ends: string;
  /** Whose trouble it is: in every line. */
  of?: object;
};

/**
 * Tells of a trouble in as many lines as a reader can use: one that lasts for an hour and is met a hundred times a second
 * is a line a minute, and one that comes back after it was over is told again.
 */
export function trouble(
  logger: Logger,
  { level, begins, ends, of = {} }: TroubleWords,
  nowMs: () => number = () => performance.now(),
): Trouble {
  let saidAtMs: number | undefined;
  let unsaid = 0;

  return {
    met(about) {
      const now = nowMs();
      if (saidAtMs !== undefined && now - saidAtMs < REMINDS_EVERY_MS) {
        unsaid += 1;
        return;
      }
      logger[level]({ ...of, ...about, ...(unsaid === 0 ? {} : { times: unsaid + 1 }) }, begins);
      saidAtMs = now;
      unsaid = 0;
    },
    over() {
      if (saidAtMs === undefined) return;
      logger.info({ ...of, ...(unsaid === 0 ? {} : { unsaid }) }, ends);
      saidAtMs = undefined;
      unsaid = 0;
    },
  };
}
