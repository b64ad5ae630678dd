import { httpUrl, milliseconds, port, serviceSettings, wholeNumber } from '@quittance/shared/config';
import { readSigningKey } from '@quittance/shared/gateway-keys';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';
import { parseNetworks } from './domain/client-address.ts';

/** The gateway publishes and consumes no events, so it does not connect to NATS. Its own assertions it need not check. No step is its. */
const {
  NATS_URL: _url,
  GATEWAY_PUBLIC_KEY: _key,
  OTEL_EXPORTER_OTLP_ENDPOINT: _collector,
  OTEL_EXPORTER_OTLP_HEADERS: _headers,
  ...settings
} = serviceSettings;

const perMinute = wholeNumber(1, 1_000_000_000);

/** States that there is no proxy. An empty setting does not: it may have been forgotten. */
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
  GATEWAY_PRIVATE_KEY: z
    .string()
    .refine((text) => readSigningKey(text) !== undefined, 'must be gwsk_ and 32 bytes in base64url')
    .transform(toSecret)
    .meta({
      format: '`gwsk_…` key, secret',
      description:
        'The Ed25519 private key by which the gateway asserts to a service whose request it passes on. No other service may have it: who has it acts as any merchant.',
    }),
  TOTP_SECRETS_KEY: z
    .string()
    .min(32, 'must have at least 32 characters')
    .transform(toSecret)
    .optional()
    .meta({
      format: 'string, secret, at least 32 characters',
      description:
        'Encrypts the secrets of the codes by which people sign in. Without it nobody can set up codes. When it is lost, people with codes need a recovery code or `quittance people reset`.',
    }),
  METRICS_PORT: port
    .optional()
    .describe(
      'The port of `/metrics`. The gateway has a port of its own for it because clients reach `PORT`. Without it the gateway serves no metrics.',
    ),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be a redis:// URL' })
    .transform(toSecret)
    .optional()
    .meta({
      format: 'redis:// URL, secret',
      description:
        'Redis counts requests for the rate limits of all gateway replicas together. Without it each replica counts alone. With `rediss://` and `?sslrootcert=<file>` the connection is [encrypted](#connections-to-the-engines).',
    }),
  INVOICES_URL: httpUrl.describe('The URL of the invoices service.'),
  PAYOUTS_URL: httpUrl.describe('The URL of the payouts service.'),
  LEDGER_URL: httpUrl.describe('The URL of the ledger service.'),
  WEBHOOKS_URL: httpUrl.describe('The URL of the webhooks service.'),
  AUDITOR_URL: httpUrl
    .optional()
    .describe(
      'The URL of the auditor, for the [console of operators](console.md). Without it the console shows no reconciliation and pauses no payouts.',
    ),
  SANDBOX_URL: httpUrl
    .optional()
    .describe(
      'The URL of the process of a sandbox that pays with test money. `npm start` and the image `quittance/sandbox` set it. Where it is set, the dashboard has a button that pays; otherwise nothing answers `/api/sandbox/payments`.',
    ),
  RATE_LIMIT_PER_MINUTE: perMinute
    .default(30)
    .describe(
      'How many requests an API token may send in a minute. `quittance account limit` gives the tokens of one account another limit.',
    ),
  FAILED_AUTH_PER_MINUTE: perMinute
    .default(300)
    .describe('How many requests without a valid API token a client address may send in a minute.'),
  SESSION_REQUESTS_PER_MINUTE: perMinute
    .default(300)
    .describe('How many requests a person who has signed in may send in a minute, with each session.'),
  SIGN_INS_PER_MINUTE: perMinute
    .default(60)
    .describe(
      'How often a client address may try to sign in, or to accept an invitation, in a minute. A sign-in with a passkey counts twice.',
    ),
  FAILED_SIGN_INS_PER_MINUTE: perMinute
    .default(10)
    .describe('How often a client address may fail to sign in, in a minute.'),
  FAILED_SIGN_INS_PER_EMAIL_PER_MINUTE: perMinute
    .default(20)
    .describe(
      'How often all clients together may fail to sign in with one e-mail address, in a minute. Clients from which its person has signed in within 90 days may go on.',
    ),
  FAILED_CODES_PER_HOUR: perMinute
    .default(10)
    .describe(
      'How many wrong codes of a second factor a person may give in an hour, after the right password.',
    ),
  SESSION_IDLE_MINUTES: wholeNumber(1, 100_000)
    .default(480)
    .describe('After so many minutes without a request a session of a person ends.'),
  SESSION_HOURS: wholeNumber(1, 2_000)
    .default(168)
    .describe('After so many hours a session of a person ends, however much it is used.'),
  PAGES_PER_MINUTE: perMinute
    .default(120)
    .describe(
      'How often a client address may load or use the page of one invoice or payment link, public keys of webhook endpoints, documents at `/docs` or the OpenAPI document, in a minute. An open page reloads by itself.',
    ),
  UNKNOWN_PAGES_PER_MINUTE: perMinute
    .default(600)
    .describe(
      'How often a client address may load pages of invoices and payment links that do not exist, in a minute.',
    ),
  LINK_PAYMENTS_PER_MINUTE: perMinute
    .default(10)
    .describe(
      'How many payments a client address may begin through one payment link in a minute. Each creates an invoice.',
    ),
  LINK_PAYMENTS_TOTAL_PER_MINUTE: perMinute
    .default(60)
    .describe('How many payments all clients together may begin through one payment link in a minute.'),
  GATEWAY_REPLICAS: wholeNumber(1, 1_000)
    .default(1)
    .describe(
      'How many gateway replicas run. While Redis does not answer, each replica allows its share of every rate limit.',
    ),
  TRUSTED_PROXIES: networks.meta({
    format: 'list of addresses and networks',
    description:
      'The proxies and load balancers in front of the gateway, whose `X-Forwarded-For` header is trusted: addresses, networks, `loopback`, `uniquelocal`, `linklocal`, or `none`.',
  }),
  CONNECTIONS_PER_CLIENT: wholeNumber(1, 100_000)
    .default(500)
    .describe(
      'How many connections a client address may have open to one gateway replica. One more is closed immediately. Connections of trusted proxies are not counted.',
    ),
  PAGE_STREAMS_PER_CLIENT: wholeNumber(1, 1_000_000)
    .default(25_000)
    .describe(
      'How many open payment pages of a client address one gateway replica has told of changes at once. Further pages look by themselves instead. Behind a proxy that `TRUSTED_PROXIES` names, each customer is a client of its own. The default is half of `PAGE_STREAMS_MAX` of invoices.',
    ),
  READ_TIMEOUT_MS: milliseconds
    .default(10_000)
    .describe(
      'How long a request may take to arrive, headers and body. After that the gateway answers 408 and closes the connection. In the other services this limit is always 10 s.',
    ),
  REQUEST_TIMEOUT_MS: milliseconds
    .default(15_000)
    .describe(
      'How long the gateway waits for a service. After that it answers 503, or 500 when the service may have acted on the request.',
    ),
});

export type GatewayConfig = z.infer<typeof configSchema>;
