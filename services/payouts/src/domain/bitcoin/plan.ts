import { type Units, units } from '@quittance/shared/money';

/** Payouts that arrive within this time are paid by one transaction. */
const BATCH_MS = 2_000;
/** Payouts per transaction. The outputs of this many take about 4,000 virtual bytes. */
const BATCH_MAX = 100;

export type QueuedForBatch = {
  amount: Units;
  /** When it was requested. */
  createdAt: Date;
};

/**
 * Sums of our UTXOs: those that can be spent now, change that no block includes yet, and those beyond one transaction's
 * limit.
 */
export type AvailableUtxos = { free: Units; incoming: Units; beyond: Units };

/** Payouts that not even all our UTXOs cover: what there is, and what the first of them needs. */
export type BatchShortage = { has: Units; needs: Units; payouts: number };

export type BatchPlan<Q extends QueuedForBatch> = {
  /** Paid now, by one transaction. */
  pay: Q[];
  /** Payouts that wait for change, and payouts that wait to share a transaction. */
  waiting: Q[];
  short: BatchShortage | undefined;
};

/**
 * Which payouts the next transaction pays. The oldest payout comes first, and money that it waits for is not spent on a
 * later one. A payout that all our UTXOs do not cover is skipped. Fees are not counted here, so the last payouts may not
 * fit.
 *
 * A UTXO is spent as a whole, and its change returns with a block. One transaction for many payouts is cheaper, and no
 * payout waits for the change of another one. So the first payout waits a moment for others.
 */
export function planBatch<Q extends QueuedForBatch>(
  queue: readonly Q[],
  available: AvailableUtxos,
  now: Date,
): BatchPlan<Q> {
  // Below zero, it stands for incoming money that a payout waits for.
  let free: bigint = available.free;
  const incoming = available.incoming + available.beyond;
  const plan: BatchPlan<Q> = { pay: [], waiting: [], short: undefined };
  for (const payout of queue) {
    if (payout.amount <= free && plan.pay.length < BATCH_MAX) {
      free -= payout.amount;
      plan.pay.push(payout);
    } else if (payout.amount <= free + incoming) {
      free -= payout.amount;
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
 * Whether small UTXOs must be merged first: a payout needs more of them than one transaction can spend, and incoming
 * change does not cover it.
 */
export function needsMerging<Q extends QueuedForBatch>(
  { pay, waiting }: BatchPlan<Q>,
  available: AvailableUtxos,
): boolean {
  const [first] = waiting;
  if (pay.length > 0 || first === undefined) return false;
  return first.amount > available.free + available.incoming;
}

/** Whether a payout is covered once incoming change is there. `needs` is its amount with the fee of all inputs. */
export const paidByChange = (needs: Units, { free, incoming }: AvailableUtxos): boolean =>
  incoming > 0n && needs <= free + incoming;

/** How many of the first ones fit, by binary search: each attempt is a selection among all UTXOs. */
export function mostThatFit<T>(
  count: number,
  attempt: (count: number) => T | undefined,
): { count: number; fit: T } | undefined {
  let best: { count: number; fit: T } | undefined;
  let low = 1;
  let high = count;
  // Usually all fit.
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
