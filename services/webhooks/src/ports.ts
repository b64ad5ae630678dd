import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { GatewayPublicKeys } from '@quittance/shared/gateway-keys';
import type { Random } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import type { Tracer } from '@quittance/shared/traces';
import type { DeliveryUpdate } from './domain/outcome.ts';
import type { EndpointKeyPairs } from './endpoint-key-pairs.ts';
import type { SecretEncryption } from './endpoint-secrets.ts';
import type { EventStreams } from './event-streams.ts';
import type { Mailer } from './mailer.ts';
import type { WebhookSender } from './webhook-sender.ts';

export type Settings = {
  /** By these it checks what the gateway asserts about a request. */
  gatewayKeys: GatewayPublicKeys;
  /** Where merchants reach the API: the lists' links start with it. */
  publicUrl: string;
  /** Sandbox and tests only: endpoints may have http URLs and private addresses. */
  allowInsecureEndpoints: boolean;
};

/** What an attempt at a mail came to: those that are `retried` are sent again later. */
export const mailOutcomes = ['sent', 'retried', 'failed'] as const;
export type MailOutcome = (typeof mailOutcomes)[number];

export type Ports = {
  db: Db;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Records the steps of payments and payouts, where traces are on. */
  tracer: Tracer;
  encryption: SecretEncryption;
  /** For `v1a` signatures. Without them there are `v1` signatures only. */
  keyPairs?: EndpointKeyPairs;
  sender: WebhookSender;
  streams: EventStreams;
  /** Called with the results of attempts when they are stored. */
  attempted?: (updates: readonly DeliveryUpdate[]) => void;
  /** Hands over e-mails. Without it the installation sends none. */
  mailer?: Mailer;
  /** Called with what became of a mail when it is stored. */
  mailed?: (outcome: MailOutcome) => void;
  settings: Settings;
};
