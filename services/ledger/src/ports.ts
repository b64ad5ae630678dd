import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { FeeEstimateBoard } from '@quittance/shared/fee-estimates';
import type { Logger } from '@quittance/shared/logger';
import type { Hold } from './domain/hold.ts';
import type { Payout } from './domain/posting.ts';
import type { Reading } from './domain/quote.ts';

/** Where rates come from. */
export type PriceSource = {
  /** With fewer sources than this an asset has no rate. */
  sourcesMin: number;
  /** What can be read now; a source that fails is missing from it, and logged. Never throws. */
  read(): Promise<Reading[]>;
};

/** Where holds are decided. */
export type HoldDesk = {
  /** What was decided for the payout, now or before; rejects when nothing could be. */
  decide(payout: Payout): Promise<Hold>;
};

export type Ports = {
  db: Db;
  bus: Bus;
  clock: Clock;
  logger: Logger;
  prices: PriceSource;
  /** What payouts says of the chains' costs. */
  fees: Pick<FeeEstimateBoard, 'fresh'>;
  holds: HoldDesk;
};
