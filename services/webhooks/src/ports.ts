import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { Random } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import type { DeliveryUpdate } from './domain/outcome.ts';
import type { SecretEncryption } from './endpoint-secrets.ts';
import type { EventStreams } from './event-streams.ts';
import type { WebhookSender } from './webhook-sender.ts';

/** All that an operation may need; each takes its part. */
export type Ports = {
  db: Db;
  bus: Bus;
  clock: Clock;
  random: Random;
  logger: Logger;
  encryption: SecretEncryption;
  sender: WebhookSender;
  streams: EventStreams;
  /** Hears what came of attempts, when that is written. */
  attempted?: (updates: readonly DeliveryUpdate[]) => void;
  /** Where merchants reach the gateway; the lists' links start with it. */
  publicUrl: string;
  allowInsecureEndpoints: boolean;
};

/** What the routes need. */
export type HttpPorts = Pick<
  Ports,
  'db' | 'clock' | 'random' | 'encryption' | 'streams' | 'logger' | 'publicUrl' | 'allowInsecureEndpoints'
>;
