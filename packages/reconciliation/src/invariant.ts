import type { InvariantNumber } from './discrepancy.ts';
import type { Watermarks } from './watermarks.ts';

/**
 * One statement that must be true of the records, as the query that finds what contradicts it. Each row of the query is a
 * discrepancy: `what` describes it, `asset` is the asset that is affected (null: no particular asset), `subject`
 * identifies it and stays the same while money moves on around it or the discrepancy grows; `amount`, where there is one,
 * is by how much the records are off. `$1` is the grace period in seconds, for queries that have one: anything younger may
 * still be on its way.
 *
 * All queries run in one snapshot of one database. Events that a service has sent and the receiver has not processed yet
 * are visible there too (see `onTheWay`), so most queries need no grace period: money in motion is no discrepancy, however
 * long NATS is down.
 */
export type Invariant = {
  /** Stored by the auditor and shown as an alias of the name. Invariants of one subject share a number. */
  number: InvariantNumber;
  name: string;
  meaning: string;
  /** It reads one service's tables only, so it holds whether or not the other services' tables are filled. */
  alone?: true;
  /** A discrepancy may mean lost money, so payouts are paused. Otherwise something is late, or money is not affected. */
  pausesPayouts: boolean;
  sql: string;
  /**
   * The same query over what is newer than an earlier check, and over all that is still open: cheap, however large the
   * tables are. Without it the invariant is checked in whole checks only.
   */
  recent?: (since: Watermarks) => string;
};
