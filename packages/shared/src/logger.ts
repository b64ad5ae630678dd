import { type Logger, pino } from 'pino';

export type { Logger };

/** Names under which a secret could stand; pino replaces their values at any of the depths given. */
const secrets = ['authorization', 'token', 'secret', 'password', 'seed', 'mnemonic', 'privateKey', 'cookie'];

/** One JSON line an entry on standard output, with the service's name; no secret under a known name. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    name: service,
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  });
}

/** An error as a log line needs it: what happened, without a stack that no reader can use. */
export function reason(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  const inner = error instanceof AggregateError ? error.errors.map(reason).join('; ') : '';
  return `${code}${error.message || inner || error.name}`;
}
