import { serviceSettings } from '@quittance/shared/config';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';

export const configSchema = z.object({
  ...serviceSettings,
  WEBHOOK_SECRETS_KEY: z.string().min(32, 'must have at least 32 characters').transform(toSecret).meta({
    format: 'string, secret',
    description:
      'Encrypts the secrets of webhook endpoints in the database. When it is lost, every merchant needs a new endpoint secret.',
  }),
  ALLOW_INSECURE_ENDPOINTS: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('Sandbox and tests only: allows endpoints with http URLs and with private addresses.'),
});

export type WebhooksConfig = z.infer<typeof configSchema>;
