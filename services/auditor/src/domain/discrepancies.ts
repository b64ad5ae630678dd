import { type AssetSymbol, assetSymbols } from '@quittance/shared/assets';

/** A discrepancy as a check finds it. */
export type FoundDiscrepancy = {
  invariant: string;
  /** Identifies the discrepancy, and stays the same while money moves on around it. */
  subject: string;
  what: string;
  /** By how much, where that can grow. */
  amount?: bigint;
  asset?: string;
  chain?: string;
  /** It stands for the discrepancies of its invariant and asset that were too many to be named. */
  isTheRest?: true;
  /** It may mean lost money. */
  pausesPayouts: boolean;
};

/** A discrepancy that an earlier check found. */
export type KnownDiscrepancy = FoundDiscrepancy & {
  times: number;
  /** An operator has resumed payouts although it is there. */
  isAccepted: boolean;
  /** Accepted up to this amount and no further. */
  acceptedAmount?: bigint;
};

export type CheckResult = {
  seen: readonly FoundDiscrepancy[];
  /** Every row was checked, not only new and open ones. */
  isWhole: boolean;
  /** The chain that was compared; none: the records were compared with each other. */
  chain?: string;
  /** Only these were checked; none: all. */
  invariants?: ReadonlySet<string>;
  /** Subjects that were not looked at: what is known of them stays. */
  unlooked?: ReadonlySet<string>;
};

export type Assessment = {
  /** Known discrepancies that are not there any more. */
  resolved: KnownDiscrepancy[];
  /** Found for the first time: money may have been in motion, so nothing happens before the next check. */
  suspected: FoundDiscrepancy[];
  /** Found for the second time by this check. */
  confirmed: FoundDiscrepancy[];
  /** The assets whose payouts must stop. */
  halts: { asset: AssetSymbol; discrepancies: FoundDiscrepancy[] }[];
};

const nameOf = ({ invariant, subject }: Pick<FoundDiscrepancy, 'invariant' | 'subject'>): string =>
  `${invariant} ${subject}`;

const sizeOf = (amount: bigint): bigint => (amount < 0n ? -amount : amount);

/** Whether the amount is at most the accepted one, with the same sign. */
function isCovered({ acceptedAmount }: KnownDiscrepancy, { amount }: FoundDiscrepancy): boolean {
  if (amount === undefined) return true;
  if (acceptedAmount === undefined) return false;
  return sizeOf(amount) <= sizeOf(acceptedAmount) && amount * acceptedAmount >= 0n;
}

/** What was found, and beside each discrepancy that is larger than what was accepted of it another one, which is not accepted. */
export function withOutgrown(
  known: readonly KnownDiscrepancy[],
  seen: readonly FoundDiscrepancy[],
): readonly FoundDiscrepancy[] {
  const accepted = new Map(known.filter((one) => one.isAccepted).map((one) => [nameOf(one), one]));
  const outgrown = seen.filter((one) => {
    const before = accepted.get(nameOf(one));
    return before !== undefined && !isCovered(before, one);
  });
  return [...seen, ...outgrown.map((one) => ({ ...one, subject: `${one.subject}, more than was accepted` }))];
}

/** What a check means, given the discrepancies known before it. A discrepancy halts payouts when it is found twice. */
export function assess(
  known: readonly KnownDiscrepancy[],
  { seen, isWhole, ...result }: CheckResult,
): Assessment {
  const before = new Map(known.map((one) => [nameOf(one), one]));
  const now = new Set(seen.map(nameOf));
  const wasChecked = ({ pausesPayouts, chain, invariant, subject }: KnownDiscrepancy): boolean =>
    // A check of new rows alone cannot show that lost money is no longer lost.
    (isWhole || !pausesPayouts) &&
    chain === result.chain &&
    result.invariants?.has(invariant) !== false &&
    result.unlooked?.has(subject) !== true;
  // The limit was reached: a discrepancy that is not named may be among those that were only counted.
  const unnamed = seen.filter(({ isTheRest }) => isTheRest === true);
  const isCounted = ({ invariant, asset }: KnownDiscrepancy): boolean =>
    unnamed.some((rest) => rest.invariant === invariant && rest.asset === asset);
  const counts = seen.filter((one) => {
    const earlier = before.get(nameOf(one));
    return one.pausesPayouts && earlier !== undefined && !earlier.isAccepted;
  });
  return {
    resolved: known.filter((one) => !now.has(nameOf(one)) && wasChecked(one) && !isCounted(one)),
    suspected: seen.filter((one) => !before.has(nameOf(one))),
    confirmed: seen.filter((one) => before.get(nameOf(one))?.times === 1),
    halts: assetSymbols.flatMap((asset) => {
      const discrepancies = counts.filter((one) => one.asset === undefined || one.asset === asset);
      return discrepancies.length === 0 ? [] : [{ asset, discrepancies }];
    }),
  };
}
