import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import type { Environment } from './environment.ts';
import type { Process } from './process.ts';

/** What the replica of every service is made from. */
export type Common = {
  environment: Environment;
  process: Process;
  db: Db;
  bus: Bus;
  clock: Clock;
  logger: Logger;
  name: string;
};
