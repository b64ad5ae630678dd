import type { Clock } from '@quittance/shared/clock';
import { requestBatcher, runAgain } from '@quittance/shared/request-batcher';
import type { Hold } from './domain/hold.ts';
import type { LedgerPayout } from './domain/posting.ts';
import type { HoldBatcher } from './ports.ts';

/** More statements only queue on each other's row locks. */
const STATEMENTS_AT_ONCE = 4;
const BATCH_MAX = 64;
const WAITING_MAX = 10_000;

export type HoldBatcherOptions = {
  /** Decides several at once; leaves out those that are to be asked again. */
  decide: (payouts: readonly LedgerPayout[]) => Promise<Hold[]>;
  clock: Clock;
  /** The caller stops waiting after this long. */
  timeoutMs: number;
};

/**
 * Puts holds that wait at the same moment into one statement. A balance is in one statement at a time, with all holds
 * that wait for it: they share a round trip instead of queueing on its row.
 */
export const createHoldBatcher = ({ decide, clock, timeoutMs }: HoldBatcherOptions): HoldBatcher => ({
  decide: requestBatcher({
    async run(payouts: readonly LedgerPayout[]) {
      const holds = new Map((await decide(payouts)).map((hold) => [hold.id, hold]));
      return payouts.map(({ id }) => holds.get(id) ?? runAgain);
    },
    max: BATCH_MAX,
    atOnce: STATEMENTS_AT_ONCE,
    groupOf: ({ account, asset }) => `${account} ${asset}`,
    keyOf: ({ id }) => id,
    waitingMax: WAITING_MAX,
    expiry: { clock, afterMs: timeoutMs },
  }),
});
