import { z } from 'zod';
import { toSecret } from './secret.ts';

/** Thrown with every problem of a configuration at once, so that one look mends them all. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(service: string, problems: readonly string[]) {
    super(
      `${service} cannot start, its configuration is wrong:\n${problems.map((p) => `  ${p}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads a service's settings from the environment once. An empty value counts as not given.
 * Names each wrong or missing setting, and never prints a value: it may be a secret.
 */
export function loadConfig<T extends z.ZodType>(
  service: string,
  schema: T,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<T> {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const name = issue.path.join('.');
    // What is said by a check of ours is to be told, also of a setting that is missing.
    const missing = given[name] === undefined && issue.code !== 'custom';
    return `${name}: ${missing ? 'is required' : issue.message}`;
  });
  throw new ConfigError(service, problems);
}

export const port = z.coerce.number().int().min(1).max(65_535);
export const milliseconds = z.coerce.number().int().min(1).max(3_600_000);
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

/** What every service needs; what holds a password, or is one, can be printed and says nothing. */
export const serviceSettings = {
  HOST: z.string().default('127.0.0.1'),
  PORT: port,
  /** The service's own role; its tables live in the schema of the service's name. */
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' })
    .transform(toSecret),
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(8),
  NATS_URL: z.url({ protocol: /^(nats|tls)$/, error: 'must be a nats:// URL' }).transform(toSecret),
  /** Shared by the gateway and the services; signs the header that says whose request it is. */
  IDENTITY_SECRET: z.string().min(32, 'must have at least 32 characters').transform(toSecret),
  /** Where merchants and customers reach the gateway; links and payment pages start with it. */
  PUBLIC_URL: httpUrl.transform((url) => url.replace(/\/+$/, '')),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
  /** Tests only: kill the process at the nth passing of a named point, as `name:nth`. */
  CRASH_AT: z.string().optional(),
};
