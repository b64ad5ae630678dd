import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { Random } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import type { Fate } from './domain/outcome.ts';
import type { EventStreams } from './event-streams.ts';
import type { Poster } from './poster.ts';
import type { Seal } from './seal.ts';

/** All that an operation may need; each takes its part. */
export type Ports = {
  db: Db;
  bus: Bus;
  clock: Clock;
  random: Random;
  logger: Logger;
  seal: Seal;
  poster: Poster;
  streams: EventStreams;
  /** Hears what came of attempts, when that is written. */
  attempted?: (fates: readonly Fate[]) => void;
  /** Where merchants reach the gateway; the lists' links start with it. */
  publicUrl: string;
  allowInsecureEndpoints: boolean;
};

/** What the routes need. */
export type HttpPorts = Pick<
  Ports,
  'db' | 'clock' | 'random' | 'seal' | 'streams' | 'logger' | 'publicUrl' | 'allowInsecureEndpoints'
>;
