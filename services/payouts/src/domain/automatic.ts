import { type Units, units } from '@quittance/shared/money';
import { CANCELLED, isUnwanted } from './states.ts';

export const schedules = ['daily', 'threshold'] as const;
/** `daily`: once a day, after midnight UTC. `threshold`: whenever the balance covers the threshold and the network fee. */
export type Schedule = (typeof schedules)[number];

/** Why the last run paid nothing although there was enough, or null. A code of the API's errors. */
export const runErrors = ['unavailable', 'insufficient_balance', 'invalid_request'] as const;
export type RunError = (typeof runErrors)[number];

/** `cancelled`: its merchant cancelled or rejected a payout of the rule, which disabled it. */
export type RuleError = RunError | typeof CANCELLED;

/**
 * The failure that a merchant has been told of after a run. It hears of a cause once, until a run has no error. What is away
 * for a while it cannot act upon, so that it is neither told of nor an end of what was told.
 */
export const toldAfter = (error: RunError | null, toldBefore: RunError | null): RunError | null =>
  error === 'unavailable' ? toldBefore : error;

/** How often the balance of a rule with a threshold is read. */
const THRESHOLD_EVERY_MS = 5 * 60_000;
/** When a run is repeated that could not be carried out. Also when its process died. */
export const RETRY_AFTER_MS = 10 * 60_000;

const DAY_MS = 24 * 60 * 60_000;

/**
 * When a rule runs next after it ran, or could have run, at that time. Each payout of it that has failed doubles the wait of
 * a rule with a threshold, up to a day.
 */
export const nextRun = (schedule: Schedule, after: Date, failures = 0): Date => {
  const ms = after.getTime();
  if (schedule === 'daily') return new Date(ms - (ms % DAY_MS) + DAY_MS);
  return new Date(ms + Math.min(THRESHOLD_EVERY_MS * 2 ** failures, DAY_MS));
};

/** What the end of a payout changes of the rule that created it. */
export type RuleState = { enabled: boolean; failures: number; nextRunAt: Date; lastError: RuleError | null };

/**
 * A rule after one of its payouts has ended. A merchant that cancels or rejects the payout does not want the next one either, which would
 * pay the same money: the rule is disabled until it is put again. After a failure it waits longer each time.
 */
export function afterPayout(
  rule: RuleState & { schedule: Schedule },
  payout: { status: 'mined' | 'failed'; failedReason: string | null },
  now: Date,
): RuleState {
  const { schedule, nextRunAt } = rule;
  if (payout.status === 'failed' && isUnwanted(payout.failedReason)) {
    // The time ends the claim of a run that has not stored its payout.
    return { enabled: false, failures: 0, nextRunAt: now, lastError: CANCELLED };
  }
  const state = { enabled: rule.enabled, lastError: rule.lastError };
  if (payout.status === 'failed') {
    const failures = rule.failures + 1;
    const waits = nextRun(schedule, now, failures);
    return { ...state, failures, nextRunAt: new Date(Math.max(waits.getTime(), nextRunAt.getTime())) };
  }
  const usual = nextRun(schedule, now);
  return { ...state, failures: 0, nextRunAt: new Date(Math.min(usual.getTime(), nextRunAt.getTime())) };
}

/** Why a rule pays nothing, or less often, now: an error of its last run before the failures of its payouts. */
export const shownError = ({ lastError, failures }: Pick<RuleState, 'lastError' | 'failures'>) =>
  lastError ?? (failures > 0 ? ('payout_failed' as const) : null);

/** What is known of a balance before an automatic payout; `least` is the least amount that is worth one. */
type Spendable = { available: Units; least: Units; networkFee: Units };

/**
 * What an automatic payout pays, or undefined when that is not enough: all that the balance has, as the ledger finds it, or
 * what is left when open claim links of refunds promise some of it. Each of these costs a network fee too.
 * @param room the most that the policy of the account lets it be; null without a limit
 */
export function automaticAmount(
  { available, least, networkFee }: Spendable,
  { amount: promised, links }: { amount: Units; links: number },
  room: Units | null = null,
): { amount: Units; takesAll: boolean } | undefined {
  const keeps = promised + BigInt(links) * networkFee;
  const free = available - keeps - networkFee;
  if (room !== null && room < free) return room < least ? undefined : { amount: room, takesAll: false };
  if (free < least) return undefined;
  return keeps === 0n && room === null
    ? { amount: least, takesAll: true }
    : { amount: units(free), takesAll: false };
}
