import { randomBytes } from 'node:crypto';
import type { Logger } from '@quittance/shared/logger';
import { type RunningService, startService } from '@quittance/shared/start-service';
import type { WebhooksConfig } from './config.ts';
import { readSender } from './domain/mail-address.ts';
import { createEndpointKeyPairs, readSigningKeys } from './endpoint-key-pairs.ts';
import { createSecretEncryption } from './endpoint-secrets.ts';
import { createEventStreams } from './event-streams.ts';
import { handlers } from './handlers.ts';
import { createHttp } from './http/app.ts';
import { createMailer, type Mailer } from './mailer.ts';
import { webhooksMetrics } from './metrics.ts';
import { renewSecrets } from './operations/renew-secrets.ts';
import type { Ports } from './ports.ts';
import { readSmtpUrl } from './smtp-url.ts';
import { createWebhookSender } from './webhook-sender.ts';
import { startWorkers } from './workers.ts';

export type WebhooksService = RunningService<Ports>;

export type WebhooksOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
  /** How often it looks for due deliveries of which nobody has told it. */
  claimEveryMs?: number;
};

/** Starts a webhooks replica, in the order that `startService` gives. */
export const startWebhooks = (
  config: WebhooksConfig,
  { workers = true, claimEveryMs, ...given }: WebhooksOptions = {},
): Promise<WebhooksService> =>
  startService({
    name: 'webhooks',
    config,
    given,
    migrations: new URL('../migrations/', import.meta.url),
    open({ db, clock, logger, tracer }) {
      const random = given.random ?? randomBytes;
      const metrics = webhooksMetrics(config.DATABASE_URL.reveal(), logger);
      const settings = {
        gatewayKeys: config.GATEWAY_PUBLIC_KEY,
        publicUrl: config.PUBLIC_URL,
        allowInsecureEndpoints: config.ALLOW_INSECURE_ENDPOINTS,
      };
      if (settings.allowInsecureEndpoints) {
        logger.warn('endpoints may have http URLs and private addresses: for a sandbox only');
      }
      const seeds = readSigningKeys(config.WEBHOOKS_SIGNING_KEY?.reveal() ?? '');
      if (seeds === undefined) {
        logger.info('webhooks have v1 signatures only: set WEBHOOKS_SIGNING_KEY for v1a signatures too');
      }
      const mailer = mailerOf(config, logger);
      const ports: Ports = {
        db,
        clock,
        random,
        logger,
        tracer,
        encryption: createSecretEncryption(
          config.WEBHOOK_SECRETS_KEY.reveal(),
          random,
          config.WEBHOOK_SECRETS_KEY_FORMER?.reveal(),
        ),
        ...(seeds === undefined ? {} : { keyPairs: createEndpointKeyPairs(seeds) }),
        sender: given.sender ?? createWebhookSender({ publicOnly: !settings.allowInsecureEndpoints }),
        streams: given.streams ?? createEventStreams({ db, logger }),
        attempted: metrics.attempted,
        ...(mailer && { mailer }),
        mailed: metrics.mailed,
        settings,
        ...given,
      };
      return { ports, metrics, connections: [ports.sender] };
    },
    http: createHttp,
    ...(config.WEBHOOK_SECRETS_KEY_FORMER === undefined ? {} : { migrated: renewSecrets }),
    handlers,
    workers: workers ? (ports) => startWorkers(ports, claimEveryMs) : undefined,
    committed(ports, delivering) {
      delivering?.wake();
      ports.streams.wake();
    },
    endStreams: ({ streams }) => streams.close(),
  });

/** Undefined where the installation sends no e-mail. */
function mailerOf(
  { SMTP_URL: url, MAIL_FROM: sender, ALLOW_INSECURE_SMTP: allowInsecure }: WebhooksConfig,
  logger: Logger,
): Mailer | undefined {
  const from = readSender(sender ?? '');
  if (url === undefined || from === undefined) {
    logger.info('no e-mail is sent: set SMTP_URL and MAIL_FROM for e-mails to merchants');
    return undefined;
  }
  const target = readSmtpUrl(url.reveal(), allowInsecure);
  if (target.kind === 'folder')
    logger.warn('e-mails are written to a folder and sent to nobody: for a sandbox only');
  if (target.kind === 'smtp' && target.server.encryption === 'none')
    logger.warn({ host: target.server.host }, 'e-mails go to the mail server without encryption');
  return createMailer({ target, from, logger });
}
