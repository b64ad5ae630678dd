import { type AssetSymbol, assetSymbols } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';

export const APPROVALS_MAX = 2;

/** What an account allows of its payouts in one asset, without their network fees. Null: no limit. */
export type AssetLimits = {
  perPayout: Units | null;
  /** Of all payouts that were created within 24 hours and have not failed. */
  perDay: Units | null;
  /** A payout of more than `above` waits until this many other tokens have approved it. */
  approval: { above: Units; needed: number } | null;
};

export type PayoutPolicy = {
  /** Whether payouts go to addresses of the address book alone. */
  allowList: boolean;
  /** How long a new address and a change that allows more wait. */
  delayHours: number;
  limits: Readonly<Partial<Record<AssetSymbol, AssetLimits>>>;
};

/** A change that allows more takes effect at `at`. Until then nothing is allowed that either of the two forbids. */
export type StoredPolicy = { policy: PayoutPolicy; next: { policy: PayoutPolicy; at: Date } | null };

export const noPolicy: PayoutPolicy = { allowList: false, delayHours: 0, limits: {} };

const HOUR_MS = 60 * 60_000;
export const DAY_MS = 24 * HOUR_MS;

/** When what is asked for now takes effect. */
export const afterDelay = ({ delayHours }: Pick<PayoutPolicy, 'delayHours'>, now: Date): Date =>
  new Date(now.getTime() + delayHours * HOUR_MS);

/** The policy that counts at that time. */
export const policyAt = ({ policy, next }: StoredPolicy, now: Date): PayoutPolicy =>
  next !== null && next.at <= now ? next.policy : policy;

const lesser = (a: Units | null, b: Units | null): Units | null =>
  a === null ? b : b === null || a < b ? a : b;

type Approvals = NonNullable<AssetLimits['approval']>;

function stricterApprovals(a: Approvals, b: Approvals): Approvals {
  const { above } = a.above < b.above ? a : b;
  return { above, needed: Math.max(a.needed, b.needed) };
}

const stricterLimits = (a: AssetLimits, b: AssetLimits): AssetLimits => ({
  perPayout: lesser(a.perPayout, b.perPayout),
  perDay: lesser(a.perDay, b.perDay),
  approval: a.approval && b.approval ? stricterApprovals(a.approval, b.approval) : (a.approval ?? b.approval),
});

/** Forbids what either of the two forbids, and nothing else. */
export function stricterOf(a: PayoutPolicy, b: PayoutPolicy): PayoutPolicy {
  const both = assetSymbols.flatMap((asset) => {
    const [one, other] = [a.limits[asset], b.limits[asset]];
    const limits = one && other ? stricterLimits(one, other) : (one ?? other);
    return limits === undefined ? [] : [[asset, limits] as const];
  });
  return {
    allowList: a.allowList || b.allowList,
    delayHours: Math.max(a.delayHours, b.delayHours),
    limits: Object.fromEntries(both),
  };
}

/** A policy as JSON: equal policies have equal texts. */
export const policyText = ({ allowList, delayHours, limits }: PayoutPolicy): string =>
  JSON.stringify({
    allowList,
    delayHours,
    limits: assetSymbols.flatMap((asset) => {
      const of = limits[asset];
      if (of === undefined) return [];
      const { perPayout, perDay, approval } = of;
      const above = approval && { above: approval.above.toString(), needed: approval.needed };
      return [{ asset, perPayout: perPayout?.toString(), perDay: perDay?.toString(), approval: above }];
    }),
  });

/** Whether a policy allows something that the other forbids. */
export const isLooser = (policy: PayoutPolicy, than: PayoutPolicy): boolean =>
  policyText(stricterOf(policy, than)) !== policyText(policy);

/**
 * The policy of an account after its merchant has given a new one. What is stricter takes effect at once; what allows more
 * after the delay, so that a token that has leaked cannot take the limits away and pay. The same change again does not start the delay again.
 * @param stored null when the account has none yet
 */
export function changePolicy(stored: StoredPolicy | null, wanted: PayoutPolicy, now: Date): StoredPolicy {
  const current = stored === null ? null : policyAt(stored, now);
  if (current === null || !isLooser(wanted, current)) return { policy: wanted, next: null };
  const policy = stricterOf(current, wanted);
  if (policy.delayHours === 0) return { policy: wanted, next: null };
  const waiting = stored?.next ?? null;
  const isAgain = waiting !== null && waiting.at > now && policyText(waiting.policy) === policyText(wanted);
  return { policy, next: { policy: wanted, at: isAgain ? waiting.at : afterDelay(policy, now) } };
}

/** Why a policy refuses a payout. */
export type PolicyRefusal =
  | 'not_in_address_book'
  | 'address_too_new'
  | 'above_payout_limit'
  | 'above_day_limit';

/** The `failed_reason` of a payout that a policy refuses. */
export const policyReasons = {
  not_in_address_book:
    'Refused by the payout policy: the address is not in the address book. Nothing was paid.',
  address_too_new:
    'Refused by the payout policy: the address is in the address book and cannot be used yet. Nothing was paid.',
  above_payout_limit: 'Refused by the payout policy: it is above the limit of one payout. Nothing was paid.',
  above_day_limit:
    'Refused by the payout policy: with the other payouts of 24 hours it is above their limit. Nothing was paid.',
  other_line: 'Refused by the payout policy: it refuses another line of the batch. Nothing was paid.',
} as const satisfies Record<PolicyRefusal | 'other_line', string>;

export type PolicyDecision =
  | { outcome: 'allowed' }
  | { outcome: 'approval'; needed: number }
  | { outcome: 'refused'; reason: string };

/** A payout that a policy decides about. */
export type DecidedPayout = {
  asset: AssetSymbol;
  amount: Units;
  /** A refund, or returned funds: its address is the customer's own, which no address book has. */
  isToCustomer: boolean;
  /** What the address book says of its address. */
  entry: 'missing' | 'delayed' | 'usable';
};

/** What the payouts of 24 hours take that have not failed, by asset. */
export type DayTotals = ReadonlyMap<AssetSymbol, Units>;

function refusalOf(
  { allowList, limits }: PayoutPolicy,
  { asset, amount, isToCustomer, entry }: DecidedPayout,
  paid: Units,
): PolicyRefusal | undefined {
  if (allowList && !isToCustomer && entry !== 'usable')
    return entry === 'delayed' ? 'address_too_new' : 'not_in_address_book';
  const { perPayout = null, perDay = null } = limits[asset] ?? {};
  if (perPayout !== null && amount > perPayout) return 'above_payout_limit';
  return perDay !== null && paid + amount > perDay ? 'above_day_limit' : undefined;
}

/** What becomes of payouts, in their order: each that is not refused counts for those after it. */
export function decidePayouts(
  policy: PayoutPolicy,
  payouts: readonly DecidedPayout[],
  totals: DayTotals,
): PolicyDecision[] {
  const paid = new Map(totals);
  return payouts.map((payout): PolicyDecision => {
    const { asset, amount } = payout;
    const before = paid.get(asset) ?? units(0n);
    const refusal = refusalOf(policy, payout, before);
    if (refusal !== undefined) return { outcome: 'refused', reason: policyReasons[refusal] };
    paid.set(asset, units(before + amount));
    const approval = policy.limits[asset]?.approval ?? null;
    return approval !== null && amount > approval.above
      ? { outcome: 'approval', needed: approval.needed }
      : { outcome: 'allowed' };
  });
}

/** All or none: when one is refused, the others are. */
export const decidedTogether = (decisions: readonly PolicyDecision[]): PolicyDecision[] =>
  decisions.some(({ outcome }) => outcome === 'refused')
    ? decisions.map((one) =>
        one.outcome === 'refused' ? one : { outcome: 'refused', reason: policyReasons.other_line },
      )
    : [...decisions];

/** The most that one more payout may be; null without a limit. */
export function roomOf(policy: PayoutPolicy, asset: AssetSymbol, totals: DayTotals): Units | null {
  const { perPayout = null, perDay = null } = policy.limits[asset] ?? {};
  const left = perDay === null ? null : perDay - (totals.get(asset) ?? 0n);
  return lesser(perPayout, left === null ? null : units(left > 0n ? left : 0n));
}
