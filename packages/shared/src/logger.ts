import { writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** Settings are of a type that prints nothing (secret.ts). This is for what comes as a plain text, under a name it could have. */
const secrets = ['authorization', 'token', 'secret', 'password', 'seed', 'mnemonic', 'privateKey', 'cookie'];

/**
 * One JSON line an entry on standard output or where `to` says, with the service's name; no secret under a known name.
 */
export function createLogger(
  service: string,
  level: string,
  to: DestinationStream = logLines((problem) => process.stderr.write(`${service}: ${problem}\n`)),
): Logger {
  const options = {
    name: service,
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  };
  return pino(options, to);
}

/** The code of an error of Node or of Postgres. */
export const codeOf = (error: unknown): string | undefined =>
  Error.isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** An error as a log line needs it: what happened, without a stack that no reader can use. */
export function reason(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  const code = codeOf(error);
  const inner = error instanceof AggregateError ? error.errors.map(reason).join('; ') : '';
  return `${code === undefined ? '' : `${code}: `}${error.message || inner || error.name}`;
}

const STDOUT = 1;
const AGAIN_AFTER_MS = 5;
/** A reader of the log that stands still may hold a service up for so long, and then loses a line. */
const PATIENCE_MS = 1_000;

const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * Log lines on standard output, each written before the service goes on. What cannot be written (a full disk, a reader
 * that is gone) is lost and said once on standard error: money goes on without a log.
 * @param descriptor where to; standard output unless a test says otherwise
 */
function logLines(say: (problem: string) => void, descriptor = STDOUT): DestinationStream {
  let lost = 0;
  return {
    write(line) {
      try {
        writeAll(descriptor, Buffer.from(line));
        if (lost > 0) say(`the log can be written again, ${lost} lines of it are lost`);
        lost = 0;
      } catch (error) {
        const why = Error.isError(error) ? error.message : String(error);
        if (lost === 0) say(`the log cannot be written, its lines are lost until it can be: ${why}`);
        lost += 1;
      }
    },
  };
}

/** A pipe whose reader is slow takes a part, or nothing for the moment. */
function writeAll(descriptor: number, bytes: Buffer): void {
  let waited = 0;
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN' || waited >= PATIENCE_MS) throw error;
      Atomics.wait(pause, 0, 0, AGAIN_AFTER_MS);
      waited += AGAIN_AFTER_MS;
    }
  }
}

const REPEATED_AFTER_MS = 60_000;
const KEYS_MAX = 10_000;

/** Log lines about conditions that last: each is logged at once, and at most once a minute while it lasts. */
export type ThrottledLog = {
  /** `key` names the condition. A line that follows suppressed ones counts them in `times`. */
  log(level: 'info' | 'warn' | 'error', key: string, fields: object, message: string): void;
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
