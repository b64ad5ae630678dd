import type { Clock } from '@quittance/shared/clock';
import { isDatabaseDown } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import type { Hold } from './domain/hold.ts';
import type { Payout } from './domain/posting.ts';
import type { HoldDesk } from './ports.ts';

/** Statements under way at once; more only queue on each other's row locks. */
const LANES = 4;
const BATCH_MAX = 64;
const WAITING_MAX = 10_000;

type Waiting = {
  payout: Payout;
  since: number;
  promise: Promise<Hold>;
  resolve: (hold: Hold) => void;
  reject: (error: unknown) => void;
};

export type HoldDeskOptions = {
  /** Decides several at once; leaves out those to be asked again. */
  decide: (payouts: readonly Payout[]) => Promise<Hold[]>;
  clock: Clock;
  /** Who asked has stopped waiting by then: nothing is decided for nobody. */
  patienceMs: number;
};

/**
 * Puts holds that wait at the same moment into one statement. A balance is in one statement at a time, with
 * all that wait for it: callers of one busy account share a round trip instead of queueing on its row.
 * A caller alone does not wait for company.
 */
export function openHoldDesk({ decide, clock, patienceMs }: HoldDeskOptions): HoldDesk {
  /** Everything not yet answered, so that the same payout asked twice at once is one question. */
  const open = new Map<PayoutId, Waiting>();
  /** Who waits for each balance, in order. */
  const queues = new Map<string, Waiting[]>();
  /** Balances with a queue that no statement has taken up, the longest waiting first. */
  const ready: string[] = [];
  let lanes = 0;
  let called = false;

  /** At the end of this turn of the event loop, with all that arrives in it. */
  function call(): void {
    if (called) return;
    called = true;
    setImmediate(work);
  }

  function work(): void {
    called = false;
    while (lanes < LANES) {
      const batch = nextBatch();
      if (batch.length === 0) return;
      lanes += 1;
      void settle(batch).finally(() => {
        lanes -= 1;
        release(batch);
        work();
      });
    }
  }

  function nextBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const tooLate = clock.now().getTime() - patienceMs;
    while (batch.length < BATCH_MAX) {
      const balance = ready.shift();
      if (balance === undefined) break;
      const queue = queues.get(balance) ?? [];
      const taken = queue.splice(0, BATCH_MAX - batch.length);
      const inTime = taken.filter((waiting) => waiting.since >= tooLate);
      for (const waiting of taken) if (waiting.since < tooLate) fail(waiting, new TooLate(waiting.payout.id));
      if (inTime.length > 0) batch.push(...inTime);
      else if (queue.length > 0) ready.unshift(balance);
      else queues.delete(balance);
    }
    return batch;
  }

  /** Answers what the statement decided; the rest goes back to the head of its queue. */
  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const holds = await decide(batch.map((waiting) => waiting.payout));
      const byId = new Map(holds.map((hold) => [hold.id, hold]));
      const again: Waiting[] = [];
      for (const waiting of batch) {
        const hold = byId.get(waiting.payout.id);
        if (hold === undefined) again.push(waiting);
        else answer(waiting, hold);
      }
      for (const waiting of again.reverse()) queues.get(balanceOf(waiting.payout))?.unshift(waiting);
    } catch (error) {
      // One that Postgres refuses must not take the others with it.
      if (batch.length > 1 && !isDatabaseDown(error)) for (const waiting of batch) await settle([waiting]);
      else for (const waiting of batch) fail(waiting, error);
    }
  }

  function release(batch: readonly Waiting[]): void {
    for (const balance of new Set(batch.map((waiting) => balanceOf(waiting.payout)))) {
      if ((queues.get(balance)?.length ?? 0) > 0) ready.push(balance);
      else queues.delete(balance);
    }
  }

  function answer({ payout, resolve }: Waiting, hold: Hold): void {
    open.delete(payout.id);
    resolve(hold);
  }

  function fail({ payout, reject }: Waiting, error: unknown): void {
    open.delete(payout.id);
    reject(error);
  }

  return {
    async decide(payout) {
      const same = open.get(payout.id);
      if (same !== undefined) return same.promise;
      if (open.size >= WAITING_MAX) throw new Error(`more than ${WAITING_MAX} holds are waiting`);
      const waiting = { payout, since: clock.now().getTime(), ...Promise.withResolvers<Hold>() };
      open.set(payout.id, waiting);
      const balance = balanceOf(payout);
      const queue = queues.get(balance);
      if (queue === undefined) {
        queues.set(balance, [waiting]);
        ready.push(balance);
      } else {
        queue.push(waiting);
      }
      call();
      return waiting.promise;
    },
  };
}

export class TooLate extends Error {
  constructor(payout: PayoutId) {
    super(`nobody waits for the hold of payout ${payout} any more, it was not decided`);
    this.name = 'TooLate';
  }
}

const balanceOf = ({ account, asset }: Payout): string => `${account} ${asset}`;
