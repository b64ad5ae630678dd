import { serviceSettings } from '@quittance/shared/config';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';
import { readSender } from './domain/mail-address.ts';
import { readSigningKeys } from './endpoint-key-pairs.ts';
import { problemOfSmtpUrl } from './smtp-url.ts';

const settings = z.object({
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
  SMTP_URL: z
    .string()
    .superRefine((text, context) => {
      const message = problemOfSmtpUrl(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .transform(toSecret)
    .optional()
    .meta({
      format: 'smtps:// or smtp:// URL, secret',
      description:
        'The mail server that takes [e-mails to merchants](#e-mails): `smtps://user:password@host` (port 465), or `smtp://` with STARTTLS (port 587). `?sslrootcert=<file>` names the authority of its certificate. Without it no e-mail is sent. With `file:///folder`, for a sandbox, mails are written there instead.',
    }),
  MAIL_FROM: z
    .string()
    .refine((text) => readSender(text) !== undefined, 'must be an e-mail address, or Name <address>')
    .optional()
    .meta({
      format: 'e-mail address',
      description:
        'The sender of e-mails: `payments@example.com`, or `Example <payments@example.com>`. Required with `SMTP_URL`.',
    }),
  ALLOW_INSECURE_SMTP: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe(
      'Sends e-mails, and the password of `SMTP_URL`, without encryption over `smtp://`. Only for a mail server in a private network. One on the same machine needs no such setting.',
    ),
});

export const configSchema = settings.superRefine(({ SMTP_URL: url, MAIL_FROM: from }, context) => {
  const lacking = url === undefined ? 'SMTP_URL' : 'MAIL_FROM';
  if ((url === undefined) !== (from === undefined))
    context.addIssue({
      code: 'custom',
      path: [lacking],
      message: 'is required: SMTP_URL and MAIL_FROM go together',
    });
});

export type WebhooksConfig = z.infer<typeof configSchema>;
