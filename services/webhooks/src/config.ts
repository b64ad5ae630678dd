import { serviceSettings } from '@quittance/shared/config';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';

export const configSchema = z.object({
  ...serviceSettings,
  /** Encrypts the endpoints' secrets at rest. Losing it means that every merchant needs a new secret. */
  WEBHOOK_SECRETS_KEY: z.string().min(32, 'must have at least 32 characters').transform(toSecret),
  /** Sandbox and tests only: endpoints may be http and may have private addresses. */
  ALLOW_INSECURE_ENDPOINTS: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
});

export type WebhooksConfig = z.infer<typeof configSchema>;
