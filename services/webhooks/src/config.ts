import { serviceSettings } from '@quittance/shared/config';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';
import { readSigningKeys } from './endpoint-key-pairs.ts';

export const configSchema = z.object({
  ...serviceSettings,
  WEBHOOK_SECRETS_KEY: z.string().min(32, 'must have at least 32 characters').transform(toSecret).meta({
    format: 'string, secret',
    description:
      'Encrypts the secrets of webhook endpoints in the database. When it is lost, every merchant needs a new endpoint secret.',
  }),
  WEBHOOK_SECRETS_KEY_FORMER: z
    .string()
    .min(32, 'must have at least 32 characters')
    .transform(toSecret)
    .optional()
    .meta({
      format: 'string, secret',
      description:
        'Only while `WEBHOOK_SECRETS_KEY` is being [changed](#the-key-of-endpoint-secrets): another key that decrypts secrets. At the start, what is encrypted with it is encrypted with `WEBHOOK_SECRETS_KEY`.',
    }),
  WEBHOOKS_SIGNING_KEY: z
    .string()
    .refine((text) => readSigningKeys(text) !== undefined, 'must be whsk_ and 32 or 64 bytes in base64')
    .transform(toSecret)
    .optional()
    .meta({
      format: '`whsk_…` key, secret',
      description:
        'The Ed25519 secret key from which the key of each endpoint is derived. Webhooks then have `v1a` signatures beside `v1`. Several keys, separated by commas, the newest first: each one signs. Without it there are no `v1a` signatures.',
    }),
  ALLOW_INSECURE_ENDPOINTS: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('Sandbox and tests only: allows endpoints with http URLs and with private addresses.'),
});

export type WebhooksConfig = z.infer<typeof configSchema>;
