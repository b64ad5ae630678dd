import { httpUrl, milliseconds, port, serviceSettings } from '@quittance/shared/config';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';
import { parseNetworks } from './domain/peer.ts';

/** The gateway announces nothing and hears nothing: it has no need of the bus. */
const { NATS_URL: _unused, ...settings } = serviceSettings;

const perMinute = z.coerce.number().int().min(1).max(1_000_000_000);

/** Says that somebody has thought of it: an empty setting does not. */
const NO_PROXY = 'none';

const networks = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter((part) => part !== '' && text.trim() !== NO_PROXY))
  .refine(
    (parts) => parts.every((part) => parseNetworks(part) !== undefined),
    'must be addresses or networks, such as 10.0.0.0/8, comma-separated',
  );

export const configSchema = z.object({
  ...settings,
  /** Where `/metrics` is shown, which no client of PORT is to see; nowhere unless given. */
  METRICS_PORT: port.optional(),
  /** Counts limits across all replicas; without it each counts by itself. */
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be a redis:// URL' })
    .transform(toSecret)
    .optional(),
  INVOICES_URL: httpUrl,
  PAYOUTS_URL: httpUrl,
  LEDGER_URL: httpUrl,
  WEBHOOKS_URL: httpUrl,
  /** Per API token. */
  RATE_LIMIT_PER_MINUTE: perMinute.default(30),
  /** Requests without a valid token, per peer. */
  FAILED_AUTH_PER_MINUTE: perMinute.default(300),
  /** Payment pages, per invoice and peer: a page asks again by itself, in each window it is open in. */
  PAGES_PER_MINUTE: perMinute.default(120),
  /** Payment pages of invoices that there are not, per peer. */
  UNKNOWN_PAGES_PER_MINUTE: perMinute.default(600),
  /** How many gateways share the limits: what each lets through by itself while Redis is away is divided by it. */
  GATEWAY_REPLICAS: z.coerce.number().int().min(1).max(1_000).default(1),
  /** Addresses or networks of the load balancers in front, whose X-Forwarded-For is believed; comma-separated. */
  TRUSTED_PROXIES: networks,
  /** Open at a time, per peer that is no trusted proxy. */
  CONNECTIONS_PER_CLIENT: z.coerce.number().int().min(1).max(100_000).default(500),
  /** A request that has not arrived whole by then, head and body, is answered 408. */
  READ_TIMEOUT_MS: milliseconds.default(10_000),
  /** A request not answered by then is answered here: 503, or 500 when a service may have done something. */
  REQUEST_TIMEOUT_MS: milliseconds.default(15_000),
});

export type GatewayConfig = z.infer<typeof configSchema>;
