import { type Units, units } from '@quittance/shared/money';

/** Payouts that arrive within this time are paid by one transaction. */
export const BATCH_MS = 2_000;
/** So many are paid by one transaction; its outputs are some 4,000 virtual bytes. */
export const BATCH_MAX = 100;

export type QueuedForBatch = {
  amount: Units;
  /** When it was asked for. */
  createdAt: Date;
};

/**
 * What our UTXOs come to: those that may be spent now, change that is in no block yet, and UTXOs beyond as many as one
 * transaction takes.
 */
export type AvailableUtxos = { free: Units; incoming: Units; beyond: Units };

/** Payouts that cannot be paid whatever comes back to us: what there is, and what the first of them needs. */
export type BatchShortage = { has: Units; needs: Units; payouts: number };

export type BatchPlan<Q extends QueuedForBatch> = {
  /** Paid now, by one transaction. */
  pay: Q[];
  /** Those whose money comes back with a block, and those that wait to share a transaction. */
  waiting: Q[];
  short: BatchShortage | undefined;
};

/**
 * Who is paid by the next transaction: first come, first served. What an earlier payout waits for is not spent on a
 * later one; one that all our UTXOs do not cover is passed over. Fees come on top, and may leave out the last ones.
 *
 * A UTXO is spent as a whole and its change comes back with a block, so one transaction for many payouts is not only
 * cheaper: those that come a moment too late would wait for a block. The first one waits a moment for the others.
 */
export function planBatch<Q extends QueuedForBatch>(
  queue: readonly Q[],
  available: AvailableUtxos,
  now: Date,
): BatchPlan<Q> {
  let free: bigint = available.free;
  let incoming: bigint = available.incoming + available.beyond;
  const plan: BatchPlan<Q> = { pay: [], waiting: [], short: undefined };
  for (const payout of queue) {
    if (payout.amount <= free && plan.pay.length < BATCH_MAX) {
      free -= payout.amount;
      plan.pay.push(payout);
    } else if (payout.amount <= free + incoming) {
      const now = payout.amount < free ? payout.amount : free;
      free -= now;
      incoming -= payout.amount - now;
      plan.waiting.push(payout);
    } else if (plan.short === undefined) {
      plan.short = { has: units(free + incoming), needs: payout.amount, payouts: 1 };
    } else {
      plan.short.payouts += 1;
    }
  }
  const [first] = plan.pay;
  const gathers = first !== undefined && now.getTime() - first.createdAt.getTime() < BATCH_MS;
  if (!gathers || plan.pay.length === BATCH_MAX) return plan;
  return { ...plan, pay: [], waiting: [...plan.pay, ...plan.waiting] };
}

/**
 * Whether many small UTXOs have to become a large one first: a payout needs more of them than one transaction takes,
 * and no change that is on its way will do.
 */
export function needsMerging<Q extends QueuedForBatch>(
  { pay, waiting }: BatchPlan<Q>,
  available: AvailableUtxos,
): boolean {
  const [first] = waiting;
  if (pay.length > 0 || first === undefined || available.beyond === 0n) return false;
  return first.amount > available.free + available.incoming;
}

/**
 * Whether change that is on its way brings what a payout lacks. `needs` is its amount with a fee: one that our UTXOs
 * cover, but not together with the fee of so many of them, has to be helped like one that they do not cover.
 */
export const paidByChange = (needs: Units, { free, incoming }: AvailableUtxos): boolean =>
  incoming > 0n && needs <= free + incoming;

/**
 * How many of the first ones fit, when fewer always fit where more do; asks about few numbers, because each question
 * is a selection among all UTXOs.
 */
export function mostThatFit<T>(
  count: number,
  attempt: (count: number) => T | undefined,
): { count: number; fit: T } | undefined {
  let best: { count: number; fit: T } | undefined;
  let low = 1;
  let high = count;
  // All of them, most often.
  let next = count;
  while (low <= high) {
    const fit = attempt(next);
    if (fit === undefined) high = next - 1;
    else {
      best = { count: next, fit };
      low = next + 1;
    }
    next = Math.floor((low + high) / 2);
  }
  return best;
}
