import { z } from 'zod';
import { readPublicKeys } from './gateway-keys.ts';
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

/** By the present name of a setting, its name in the former release, which is read for one release more. */
const formerSettings: Readonly<Record<string, string>> = {
  GRACE_PERIOD_SECONDS: 'PATIENCE_SECONDS',
  PAYOUTS_EVERY_MS: 'ENGINE_EVERY_MS',
  CLAIM_LINKS_SECRET: 'IDENTITY_SECRET',
};

const UPGRADE =
  'is required since this release: docs/install.md, section Upgrade, says how an .env of the former one gets it';
/** Required settings that a former release did not have. */
const newSettings: ReadonlySet<string> = new Set([
  'GATEWAY_PRIVATE_KEY',
  'GATEWAY_PUBLIC_KEY',
  'CLAIM_LINKS_SECRET',
]);

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
  for (const [name, former] of Object.entries(formerSettings)) {
    if (given[former] !== undefined) given[name] ??= given[former];
  }
  const parsed = schema.safeParse(given);
  const isArmed = given['CRASH_AT'] !== undefined && env['NODE_ENV'] === 'production';
  if (parsed.success && !isArmed) return parsed.data;
  const problems = (parsed.error?.issues ?? []).map((issue) => {
    const name = issue.path.join('.');
    // What is said by a check of ours is to be told, also of a setting that is missing.
    const missing = given[name] === undefined && issue.code !== 'custom';
    return `${name}: ${missing ? requiredText(name) : issue.message}`;
  });
  if (isArmed) problems.push('CRASH_AT: is for tests, and NODE_ENV is production');
  throw new ConfigError(service, problems);
}

const requiredText = (name: string): string => (newSettings.has(name) ? UPGRADE : 'is required');

export const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
export const port = wholeNumber(1, 65_535);
export const milliseconds = wholeNumber(1, 3_600_000);
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

/**
 * The settings of every service. Passwords and URLs that hold one become `Secret`, which prints as nothing.
 * Each `description` is a cell of the tables in docs/configure.md, which tools/generate-docs.ts writes.
 */
export const serviceSettings = {
  HOST: z.string().default('127.0.0.1').describe('The address on which the service listens.'),
  PORT: port.describe('The port on which the service listens.'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' })
    .transform(toSecret)
    .meta({
      format: 'postgres:// URL, secret',
      description:
        "Logs in as the service's own role, `quittance_<service>`. Its tables are in the schema of the service's name. With `?sslmode=verify-full&sslrootcert=<file>` the connection is [encrypted](#connections-to-the-engines).",
    }),
  DATABASE_POOL: wholeNumber(1, 100)
    .default(8)
    .describe('How many connections to Postgres one replica keeps open.'),
  NATS_URL: z
    .url({ protocol: /^(nats|tls)$/, error: 'must be a nats:// URL' })
    .transform(toSecret)
    .meta({
      format: 'nats:// URL, secret',
      description:
        "Logs in as the service's own NATS user: `nats://<service>:<password>@host:4222`. With `tls://` and `?sslrootcert=<file>` the connection is [encrypted](#connections-to-the-engines).",
    }),
  GATEWAY_PUBLIC_KEY: z
    .string()
    .transform((text, context) => {
      const keys = readPublicKeys(text);
      if (keys !== undefined) return keys;
      context.addIssue({
        code: 'custom',
        message: 'must be gwpk_ and 32 bytes in base64url, or several of these',
      });
      return z.NEVER;
    })
    .meta({
      format: 'list of `gwpk_…` keys',
      description:
        'The Ed25519 public key of `GATEWAY_PRIVATE_KEY`, by which a service checks what the gateway asserts about a request: whose it is, and that it is this request. Several keys, separated by commas, while the key is being [changed](#the-gateways-keys).',
    }),
  PUBLIC_URL: httpUrl
    .transform((url) => url.replace(/\/+$/, ''))
    .describe(
      'The URL at which merchants and customers reach the gateway. Links and payment pages start with it, and passkeys are bound to its host name.',
    ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('The least severe level that is logged. A log entry is one line of JSON on standard output.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional().meta({
    format: 'URL',
    description:
      'Where [traces](monitor.md#traces) are sent: the URL of a collector of OpenTelemetry that takes OTLP over HTTP, such as `http://collector:4318`; `/v1/traces` is added to it. Without it there are no traces.',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .regex(
      /^[^=,\s]+=[^,]*(,[^=,\s]+=[^,]*)*$/,
      'must be name=value, or several of these separated by commas',
    )
    .transform(toSecret)
    .optional()
    .meta({
      format: 'list of `name=value`, secret',
      description: 'Headers of each request to the collector, such as its API key.',
    }),
  CRASH_AT: z.string().optional().meta({
    format: '`name:nth`',
    description: 'Tests only: ends the process at the nth passage of the named failpoint.',
  }),
};
