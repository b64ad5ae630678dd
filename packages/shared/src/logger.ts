import { type DestinationStream, type Logger, pino } from 'pino';
import { logLines } from './log-lines.ts';

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

/** An error as a log line needs it: what happened, without a stack that no reader can use. */
export function reason(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  const inner = error instanceof AggregateError ? error.errors.map(reason).join('; ') : '';
  return `${code}${error.message || inner || error.name}`;
}
