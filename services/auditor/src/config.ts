import { withChains } from '@quittance/chains/settings';
import { chainSettings } from '@quittance/chains/settings-schema';
import { milliseconds, serviceSettings, wholeNumber } from '@quittance/shared/config';
import { z } from 'zod';

/** The auditor serves no merchant's request, so it needs no URL of the gateway, and its key for the console of operators alone. */
const {
  GATEWAY_PUBLIC_KEY: key,
  PUBLIC_URL: _url,
  // No step of a payment or payout is its.
  OTEL_EXPORTER_OTLP_ENDPOINT: _collector,
  OTEL_EXPORTER_OTLP_HEADERS: _headers,
  ...settings
} = serviceSettings;

/** `chains` are those whose nodes are asked. Each is switched on by its `<CHAIN>_RPC_URL`; without any, only the database is checked. */
export const configSchema = withChains(
  z.object({
    ...settings,
    ...chainSettings,
    GATEWAY_PUBLIC_KEY: key.optional().meta(key.meta() ?? {}),
    CHECK_EVERY_MS: milliseconds
      .default(60_000)
      .describe('How often the records of all services are compared with each other.'),
    CHAINS_EVERY_MS: milliseconds
      .default(60_000)
      .describe(
        'How often the records are compared with the chains. Each comparison sends requests to the nodes.',
      ),
    WHOLE_CHECK_EVERY_HOURS: wholeNumber(1, 168)
      .default(24)
      .describe('How often every row is checked, and not only what is new or open.'),
    CHAIN_DAYS: wholeNumber(1, 365)
      .default(2)
      .describe(
        'How many days of payouts and deposits a check of every row looks up in their chain, counted back from the last time the chain was compared.',
      ),
    GRACE_PERIOD_SECONDS: wholeNumber(0, 3_600)
      .default(60)
      .describe(
        'How long an event may be in flight between two services before the auditor raises an alarm.',
      ),
    SOLANA_BEGAN: z.iso.datetime().optional().meta({
      format: 'ISO 8601 date',
      description: 'Development only: when the Solana chain was created. Nothing older is looked up on it.',
    }),
  }),
);

export type AuditorConfig = z.infer<typeof configSchema>;
